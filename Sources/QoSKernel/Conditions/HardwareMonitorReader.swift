package import QoSCore

/// Reads the temperatures of the chips that monitor hardware (the kernel's `hwmon/sysfs-interface.rst`), for machines
/// without thermal zones.
///
/// A chip has no passive trip point. Its critical limit counts as one of the kernel, and its highest recommended
/// temperature (`max`) as the passive one, if that lies well below the critical limit.
///
/// Any thread may call it. A sensor behind a slow bus may take milliseconds, and a broken bus may block.
package struct HardwareMonitorReader: Sendable {
    private static let folder = "/sys/class/hwmon"

    /// The least distance of `max` from the critical limit, in °C. Some chips give the same number for both.
    private static let distance = 10.0

    private let root: FileRoot

    /// - Parameter root: where `sys` is.
    package init(root: FileRoot = .real) {
        self.root = root
    }

    /// Reads all sensors. One that is switched off or reports a fault is left out.
    ///
    /// - Returns: the sensors as zones, and those that could not be read, with the reasons.
    package func read() -> (zones: [ThermalReading.Zone], skipped: [String]) {
        var zones: [ThermalReading.Zone] = []
        var skipped: [String] = []
        for chip in (try? SensorFile.names(in: root.appending(Self.folder))) ?? [] {
            for file in (try? SensorFile.names(in: root.appending("\(Self.folder)/\(chip)"))) ?? []
            where file.hasPrefix("temp") && file.hasSuffix("_input") {
                do throws(KernelError) {
                    if let zone = try zone(chip, String(file.dropLast("input".count))) { zones.append(zone) }
                } catch {
                    skipped.append("\(chip): \(error)")
                }
            }
        }
        return (zones, skipped)
    }

    private func path(_ chip: String, _ file: String) -> String { root.appending("\(Self.folder)/\(chip)/\(file)") }

    /// - Parameter sensor: the beginning of the names of its files: `temp1_`.
    private func zone(_ chip: String, _ sensor: String) throws(KernelError) -> ThermalReading.Zone? {
        if (try? SensorFile.number(path(chip, "\(sensor)fault"))) == 1 { return nil }
        if (try? SensorFile.number(path(chip, "\(sensor)enable"))) == 0 { return nil }
        let file = path(chip, "\(sensor)input")
        let temperature = Double(try SensorFile.number(file)) / 1000
        guard ThermalReader.temperatures.contains(temperature) else { throw .notSensible(file) }
        let critical = limit(path(chip, "\(sensor)crit"))
        let highest = limit(path(chip, "\(sensor)max")).flatMap { highest in
            highest <= (critical ?? .infinity) - Self.distance ? highest : nil
        }
        let name = (try? SensorFile.read(path(chip, "name"))) ?? chip
        let label = (try? SensorFile.read(path(chip, "\(sensor)label"))) ?? String(sensor.dropLast())
        return ThermalReading.Zone(
            name: "\(name) \(label)", temperature: temperature, passive: highest, critical: critical)
    }

    /// A limit in °C; `nil` for one that is missing or makes no sense.
    private func limit(_ path: String) -> Double? {
        (try? SensorFile.number(path)).map { Double($0) / 1000 }
            .flatMap { ThermalReader.tripPoints.contains($0) ? $0 : nil }
    }
}
