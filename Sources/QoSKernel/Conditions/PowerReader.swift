package import QoSCore

/// Reads the power supplies and the power profile (the kernel's `ABI/testing/sysfs-class-power` and
/// `sysfs-platform_profile`).
///
/// power-profiles-daemon and TLP set the platform profile, or the energy preference of the processors where there is
/// none. So both files show their choice.
///
/// Any thread may call it. A battery may answer after some milliseconds.
package struct PowerReader: Sendable {
    private static let folder = "/sys/class/power_supply"
    private static let profile = "/sys/firmware/acpi/platform_profile"
    private static let preference = "/sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference"

    private let root: FileRoot

    /// - Parameter root: where `sys` is.
    package init(root: FileRoot = .real) {
        self.root = root
    }

    /// Reads everything that can be read. A broken supply is skipped.
    package func read() -> Reading<PowerReading> {
        var reading = PowerReading()
        reading.savingProfile = savingProfile
        var levels: [Double] = []
        var isAnyKnown = reading.savingProfile != nil
        for name in (try? SensorFile.names(in: root.appending(Self.folder))) ?? [] {
            switch text(name, "type") {
            case "Mains", "USB", "Wireless", "USB_C", "USB_PD":
                guard let online = number(name, "online") else { continue }
                reading.isOnMains = reading.isOnMains == true || online > 0
            case "Battery", "UPS":
                // A battery of scope "Device" is that of a mouse or a keyboard.
                guard text(name, "scope") != "Device", number(name, "present") != 0 else { continue }
                guard let level = level(of: name) else { continue }
                levels.append(level)
                if text(name, "status") == "Discharging" { reading.isDischarging = true }
            default: continue
            }
            isAnyKnown = true
        }
        if !levels.isEmpty { reading.batteryLevel = levels.reduce(0, +) / Double(levels.count) }
        return isAnyKnown ? .known(reading) : .unknown("no power supply in \(Self.folder)")
    }

    private var savingProfile: String? {
        if (try? SensorFile.read(root.appending(Self.profile))) == "low-power" { return "platform profile low-power" }
        if (try? SensorFile.read(root.appending(Self.preference))) == "power" { return "energy preference power" }
        return nil
    }

    private func text(_ name: String, _ file: String) -> String? {
        try? SensorFile.read(root.appending("\(Self.folder)/\(name)/\(file)"))
    }

    private func number(_ name: String, _ file: String) -> Int64? { text(name, file).flatMap { Int64($0) } }

    /// The charge, 0…1; `nil` if the battery shows none that makes sense.
    private func level(of name: String) -> Double? {
        if let percent = number(name, "capacity") { return 0...100 ~= percent ? Double(percent) / 100 : nil }
        for quantity in ["energy", "charge"] {
            guard let now = number(name, "\(quantity)_now"), let full = number(name, "\(quantity)_full") else {
                continue
            }
            guard full > 0, now >= 0 else { return nil }
            return min(1, Double(now) / Double(full))
        }
        return nil
    }
}
