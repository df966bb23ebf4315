package import QoSCore

/// Reads the thermal zones and the cooling devices of the machine (the kernel's `driver-api/thermal/sysfs-api.rst`). On a
/// machine without zones the chips that monitor hardware take their place.
///
/// Any thread may call it. A sensor behind a slow bus may take milliseconds.
package struct ThermalReader: Sendable {
    private static let folder = "/sys/class/thermal"

    /// The possible temperatures of a sensor and of a trip point, in °C. The kernel uses −274 °C for "none"; firmware
    /// uses 0 and 256.
    static let temperatures = -50.0...200
    static let tripPoints = 20.0...200

    private let root: FileRoot

    /// - Parameter root: where `sys` is.
    package init(root: FileRoot = .real) {
        self.root = root
    }

    /// Reads everything that can be read. A broken zone or device is skipped, and named in the reading.
    package func read() -> Reading<ThermalReading> {
        var names: [String] = []
        var problem = "no thermal zone in \(Self.folder)"
        do throws(KernelError) {
            names = try SensorFile.names(in: root.appending(Self.folder))
        } catch {
            problem = "no thermal sensors: \(error)"
        }
        var reading = ThermalReading()
        for name in names {
            do throws(KernelError) {
                if name.hasPrefix("thermal_zone") {
                    if let zone = try zone(name) { reading.zones.append(zone) }
                } else if name.hasPrefix("cooling_device") {
                    if let device = try device(name) { reading.cooling.append(device) }
                }
            } catch {
                reading.skipped.append("\(name): \(error)")
            }
        }
        if reading.zones.isEmpty {
            let (zones, skipped) = HardwareMonitorReader(root: root).read()
            reading.zones = zones
            reading.skipped += skipped
        }
        if !reading.zones.isEmpty || !reading.cooling.isEmpty { return .known(reading) }
        if let first = reading.skipped.first { return .unknown("no thermal sensor can be read, \(first)") }
        return .unknown(problem)
    }

    private func path(_ name: String, _ file: String) -> String { root.appending("\(Self.folder)/\(name)/\(file)") }

    /// - Returns: `nil` for a zone that is switched off.
    private func zone(_ name: String) throws(KernelError) -> ThermalReading.Zone? {
        if (try? SensorFile.read(path(name, "mode"))) == "disabled" { return nil }
        let file = path(name, "temp")
        let temperature = Double(try SensorFile.number(file)) / 1000
        guard Self.temperatures.contains(temperature) else { throw KernelError.notSensible(file) }
        let points = tripPoints(of: name)
        return ThermalReading.Zone(
            name: (try? SensorFile.read(path(name, "type"))) ?? name, temperature: temperature,
            passive: points["passive"], hot: points["hot"], critical: points["critical"])
    }

    /// The lowest sensible trip point of each type.
    private func tripPoints(of name: String) -> [String: Double] {
        var points: [String: Double] = [:]
        let files = (try? SensorFile.names(in: root.appending("\(Self.folder)/\(name)"))) ?? []
        for file in files where file.hasPrefix("trip_point_") && file.hasSuffix("_type") {
            let temperature = file.dropLast("type".count) + "temp"
            guard
                let type = try? SensorFile.read(path(name, file)),
                let millidegrees = try? SensorFile.number(path(name, String(temperature))),
                Self.tripPoints.contains(Double(millidegrees) / 1000)
            else { continue }
            points[type] = min(points[type] ?? .infinity, Double(millidegrees) / 1000)
        }
        return points
    }

    /// - Returns: `nil` for a device that slows nothing down, such as a fan, and for one without steps.
    private func device(_ name: String) throws(KernelError) -> ThermalReading.Cooling? {
        let type = try SensorFile.read(path(name, "type"))
        guard Self.slowsProcessors(type) else { return nil }
        let steps = try SensorFile.number(path(name, "max_state"))
        // `intel_powerclamp` shows −1 while it does nothing.
        let step = try SensorFile.number(path(name, "cur_state"))
        guard steps > 0 else { return nil }
        guard step <= steps else { throw KernelError.notSensible(path(name, "cur_state")) }
        return ThermalReading.Cooling(name: type, use: Double(max(0, step)) / Double(steps))
    }

    private static func slowsProcessors(_ type: String) -> Bool {
        ["Processor", "intel_powerclamp"].contains(type)
            || ["cpufreq", "thermal-cpufreq", "cpuidle", "thermal-idle", "idle-"].contains { type.hasPrefix($0) }
    }
}
