import QoSCore
import QoSKernel
import Testing

@Suite("The reader of hardware monitors", .tags(.kernel))
struct HardwareMonitorReaderTests {
    private static let chip = "/sys/class/hwmon/hwmon3"

    private func read(_ files: [String: String], zones: [String: String] = [:]) throws -> Reading<ThermalReading> {
        var all = zones
        for (name, text) in files { all["\(Self.chip)/\(name)"] = text }
        let tree = try MadeTree(all)
        return withExtendedLifetime(tree) { ThermalReader(root: tree.root).read() }
    }

    private func zone(_ files: [String: String]) throws -> ThermalReading.Zone? { try read(files).value?.zones.first }

    @Test("S1 without thermal zones the chips tell the heat, with their limits as trip points")
    func chips() throws {
        let found = try read([
            "name": "coretemp\n", "temp1_input": "71000\n", "temp1_label": "Package id 0\n", "temp1_max": "80000\n",
            "temp1_crit": "100000\n", "temp12_input": "-5000", "fan1_input": "900",
        ])
        #expect(
            found.value?.zones == [
                .init(name: "coretemp Package id 0", temperature: 71, passive: 80, critical: 100),
                .init(name: "coretemp temp12", temperature: -5),
            ])
        #expect(found.value?.judgement(isFalling: false).state == .nominal)
    }

    @Test(
        "S1 S2 states begin at the limits",
        arguments: [(74, ThermalState.nominal), (75, .fair), (80, .serious), (95, .critical)])
    func states(degrees: Int, state: ThermalState) throws {
        let found = try read([
            "name": "k10temp", "temp1_input": "\(degrees)000", "temp1_max": "80000", "temp1_crit": "100000",
        ])
        #expect(found.value?.judgement(isFalling: false).state == state)
    }

    @Test("S1 a highest temperature at the critical one is no passive trip point")
    func sameLimits() throws {
        let found = try zone(["name": "x", "temp1_input": "50000", "temp1_max": "100000", "temp1_crit": "100000"])
        #expect(found?.passive == nil && found?.critical == 100)
    }

    @Test("S1 limits that make no sense do not count", arguments: ["-1", "0", "65261850", "x", ""])
    func lyingLimits(limit: String) throws {
        let found = try zone(["name": "x", "temp1_input": "50000", "temp1_max": limit, "temp1_crit": limit])
        #expect(found == .init(name: "x temp1", temperature: 50))
    }

    @Test("S1 a sensor that is off or faulty is left out", arguments: ["temp1_fault": "1", "temp1_enable": "0"])
    func off(file: (key: String, value: String)) throws {
        #expect(try zone(["name": "x", "temp1_input": "99000", file.key: file.value]) == nil)
    }

    @Test("S1 lying sensors are skipped and named", arguments: ["-273000", "999000", "?", "", "0x20"])
    func lies(text: String) throws {
        let found = try read(["name": "x", "temp1_input": text, "temp2_input": "40000"])
        #expect(found.value?.zones.map(\.name) == ["x temp2"])
        #expect(found.value?.skipped.count == 1)
        #expect(try read(["name": "x", "temp1_input": text]).problem?.contains("hwmon3") == true)
    }

    @Test("S1 where there are thermal zones, the chips do not count")
    func zones() throws {
        let found = try read(
            ["name": "x", "temp1_input": "99000", "temp1_crit": "100000"],
            zones: ["/sys/class/thermal/thermal_zone0/temp": "40000", "/sys/class/thermal/thermal_zone0/type": "cpu"])
        #expect(found.value?.zones.map(\.name) == ["cpu"])
    }
}
