import Foundation
import QoSFileTestSupport
import Testing

@Suite("qosctl conditions and simulate, as processes", .timeLimit(.minutes(5)))
struct ConditionsCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("qos-conditions")
    }

    private func output(_ command: String, _ status: Int32 = 0) throws -> String {
        let result = try ToolRun.run(
            command, reading: status == 0 ? \.standardOutput : \.standardError, with: ["DIR": folder.path])
        #expect(result.status == status, "\(result.text)")
        return result.text
    }

    @Test("S1 S2 simulate prints the decision for a state, and needs one")
    func simulates() throws {
        let text = try output("simulate thermal serious memory=severe")
        #expect(text.contains("thermal         serious: simulated") && text.contains("background      stop"))
        #expect(try output("simulate thermal hot", 64).contains("thermal=serious"))
        #expect(try output("simulate", 64).contains("such as thermal serious"))
        #expect(try output("conditions --simulate thermal=hot", 64).contains("thermal=serious"))
    }

    @Test("S1 with a file, simulate writes the states there, and without states it removes the file")
    func writesFile() throws {
        _ = try output("simulate thermal serious low-power on --file $DIR/states")
        #expect(try folder.read("states") == "thermal=serious\nlow-power=on\n")
        _ = try output("simulate --file $DIR/states")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        let error = try output("simulate io severe --file $DIR/missing/states", 1)
        #expect(error.contains("There is no such directory"))
    }

    @Test("S1 S3 S4 a made tree stands for the machine; sensors that block, lie or are missing do no harm")
    func madeTree() throws {
        let zone = "sys/class/thermal/thermal_zone"
        for (number, temperature) in ["97000", "-273000", "", "warm"].enumerated() {
            try folder.write("\(zone)\(number)/type", "cpu\(number)")
            try folder.write("\(zone)\(number)/temp", temperature)
            try folder.write("\(zone)\(number)/trip_point_0_type", "passive")
            try folder.write("\(zone)\(number)/trip_point_0_temp", "95000")
        }
        try folder.write("sys/class/power_supply/BAT0/type", "Battery")
        try folder.write("sys/class/power_supply/BAT0/capacity", "7")
        try folder.write("sys/class/power_supply/BAT0/status", "Discharging")
        let text = try output("conditions --root $DIR --path $DIR/no-such-path")
        #expect(text.contains("thermal         serious: cpu0 has 97 °C"), "\(text)")
        #expect(text.contains("low-power mode"), "\(text)")
        #expect(text.contains("name a file or directory on the file system"), "\(text)")
        #expect(try output("conditions --root $DIR/states", 64).contains("is no directory"))
    }
}
