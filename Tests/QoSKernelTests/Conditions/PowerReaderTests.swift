import QoSCore
import QoSKernel
import Testing

@Suite("The power reader")
struct PowerReaderTests {
    /// A made machine, and the reading of its power supplies.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let files: [String: String]
        /// `nil` for an unknown supply.
        let reading: PowerReading?

        init(_ name: String, _ files: [String: String], _ reading: PowerReading?) {
            (testDescription, self.files, self.reading) = (name, files, reading)
        }

        private static let profile = "/sys/firmware/acpi/platform_profile"
        private static let preference = "/sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference"

        static let all: [Case] = [
            Case("nothing", [:], nil),
            Case("an unknown kind", supply("x", ["type": "Magic"]), nil),
            Case("mains", supply("AC", ["type": "Mains\n", "online": "1\n"]), PowerReading(isOnMains: true)),
            Case(
                "discharging battery",
                supply("BAT0", ["type": "Battery", "capacity": "15\n", "status": "Discharging\n"]),
                PowerReading(isDischarging: true, batteryLevel: 0.15)),
            Case(
                "two batteries and the mains pulled",
                supply("AC", ["type": "Mains", "online": "0"])
                    + supply("BAT0", ["type": "Battery", "capacity": "10", "status": "Discharging"])
                    + supply("BAT1", ["type": "Battery", "capacity": "90", "status": "Not charging"]),
                PowerReading(isOnMains: false, isDischarging: true, batteryLevel: 0.5)),
            Case(
                "two plugs, one in",
                supply("AC", ["type": "Mains", "online": "0"])
                    + supply("usb", ["type": "USB", "online": "2"]), PowerReading(isOnMains: true)),
            Case(
                "energy in the place of a percentage",
                supply(
                    "BAT0", ["type": "Battery", "energy_now": "25000", "energy_full": "50000", "status": "Charging"]),
                PowerReading(batteryLevel: 0.5)),
            Case(
                "charge above full", supply("BAT0", ["type": "Battery", "charge_now": "51", "charge_full": "50"]),
                PowerReading(batteryLevel: 1)),
            Case("a mouse", supply("hid", ["type": "Battery", "scope": "Device", "capacity": "5"]), nil),
            Case("an empty bay", supply("BAT0", ["type": "Battery", "present": "0", "capacity": "5"]), nil),
            Case("-1 %", supply("BAT0", ["type": "Battery", "capacity": "-1"]), nil),
            Case("101 %", supply("BAT0", ["type": "Battery", "capacity": "101"]), nil),
            Case("garbage", supply("BAT0", ["type": "Battery", "capacity": "full"]), nil),
            Case("full is zero", supply("BAT0", ["type": "Battery", "energy_now": "1", "energy_full": "0"]), nil),
            Case("an empty file", supply("AC", ["type": "Mains", "online": ""]), nil),
            Case(
                "low-power profile", [profile: "low-power\n"], PowerReading(savingProfile: "platform profile low-power")
            ),
            Case("balanced profile", [profile: "balanced\n"], nil),
            Case("energy preference", [preference: "power\n"], PowerReading(savingProfile: "energy preference power")),
        ]

        private static func supply(_ name: String, _ files: [String: String]) -> [String: String] {
            Dictionary(uniqueKeysWithValues: files.map { ("/sys/class/power_supply/\(name)/\($0.key)", $0.value) })
        }
    }

    @Test("S3 supplies and profiles are read, and nonsense counts as nothing", arguments: Case.all)
    func reads(found: Case) throws {
        let tree = try MadeTree(found.files.merging(["/sys/x": ""]) { $1 })
        let reading = PowerReader(root: tree.root).read()
        #expect(reading.value == found.reading)
        if found.reading == nil { #expect(reading.problem == "no power supply in /sys/class/power_supply") }
    }
}

/// Joins the files of several supplies.
private func + (left: [String: String], right: [String: String]) -> [String: String] {
    left.merging(right) { $1 }
}
