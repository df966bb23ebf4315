import Glibc
import QoSCore
import QoSFileTestSupport
import QoSKernel
import Testing

@Suite("The thermal reader")
struct ThermalReaderTests {
    private static let folder = "/sys/class/thermal"

    /// A zone's files.
    private static func zone(
        _ number: Int, temp: String?, type: String = "cpu\n", trips: [(String, String)] = [], mode: String? = nil
    ) -> [String: String] {
        let path = "\(folder)/thermal_zone\(number)"
        var files = ["\(path)/type": type]
        files["\(path)/temp"] = temp
        files["\(path)/mode"] = mode
        for (index, trip) in trips.enumerated() {
            files["\(path)/trip_point_\(index)_type"] = trip.0
            files["\(path)/trip_point_\(index)_temp"] = trip.1
        }
        return files
    }

    private static func device(_ number: Int, type: String, step: String, steps: String) -> [String: String] {
        let path = "\(folder)/cooling_device\(number)"
        return ["\(path)/type": type, "\(path)/cur_state": step, "\(path)/max_state": steps]
    }

    private func read(_ parts: [String: String]...) throws -> Reading<ThermalReading> {
        let files = parts.reduce(into: ["/sys/x": ""]) { $0.merge($1) { $1 } }
        let tree = try MadeTree(files)
        return ThermalReader(root: tree.root).read()
    }

    @Test("S1 reads zones with their trip points, and cooling devices that slow processors down")
    func reads() throws {
        let found = try read(
            Self.zone(
                0, temp: "56000\n", type: "acpitz\n",
                trips: [
                    ("critical\n", "110000\n"), ("passive\n", "107000\n"), ("active\n", "55000\n"),
                    ("hot\n", "109000\n"),
                    ("passive\n", "95000\n"),
                ], mode: "enabled\n"),
            Self.zone(10, temp: "-5000"),
            Self.device(0, type: "Processor\n", step: "3\n", steps: "10\n"),
            Self.device(1, type: "Fan\n", step: "1\n", steps: "1\n"),
            Self.device(2, type: "intel_powerclamp", step: "-1", steps: "50"),
            Self.device(3, type: "cpufreq-cpu0", step: "1", steps: "0"))
        let reading = try #require(found.value)
        #expect(
            reading.zones == [
                .init(name: "acpitz", temperature: 56, passive: 95, hot: 109, critical: 110),
                .init(name: "cpu", temperature: -5),
            ])
        #expect(reading.cooling == [.init(name: "Processor", use: 0.3), .init(name: "intel_powerclamp", use: 0)])
        #expect(reading.skipped == [])
    }

    @Test(
        "S1 trip points that firmware leaves without a value do not count",
        arguments: ["0", "-274000", "256000", "", "x"])
    func placeholders(temperature: String) throws {
        let found = try read(Self.zone(0, temp: "50000", trips: [("critical", temperature), ("passive", "90000")]))
        #expect(found.value?.zones == [.init(name: "cpu", temperature: 50, passive: 90)])
    }

    @Test(
        "S1 a zone that lies is skipped and named, the others count",
        arguments: [
            "-273000", "-274000", "999000", "", "garbage", "12.5", "9999999999999999999999", "\u{0}", "50000 1",
        ])
    func lies(text: String) throws {
        let found = try read(Self.zone(0, temp: text), Self.zone(1, temp: "40000"))
        let reading = try #require(found.value)
        #expect(reading.zones.map(\.temperature) == [40])
        #expect(reading.skipped.count == 1 && reading.skipped[0].hasPrefix("thermal_zone0: read failed for "))
        let alone = try read(Self.zone(0, temp: text))
        #expect(alone.problem?.hasPrefix("no thermal sensor can be read, thermal_zone0: ") == true)
    }

    @Test("S1 a zone without its file, and one that is switched off, do not count")
    func absent() throws {
        let found = try read(
            Self.zone(0, temp: nil), Self.zone(1, temp: "99000", mode: "disabled\n"), Self.zone(2, temp: "30000"))
        #expect(found.value?.zones.map(\.temperature) == [30])
        #expect(found.value?.skipped.count == 1)
    }

    @Test("S1 a cooling device with more steps in use than it has is skipped")
    func impossibleDevice() throws {
        let found = try read(Self.zone(0, temp: "30000"), Self.device(0, type: "Processor", step: "11", steps: "10"))
        #expect(found.value?.cooling == [] && found.value?.skipped.count == 1)
    }

    @Test("S1 a machine without sensors is unknown, with a reason")
    func none() throws {
        #expect(try read().problem?.hasPrefix("no thermal sensors: readdir failed for ") == true)
        #expect(try read(["\(Self.folder)/other/type": "x"]).problem == "no thermal zone in /sys/class/thermal")
    }

    @Test("S1 a pipe in the place of a file does not block; a directory and an endless file are refused")
    func blocks() throws {
        let folder = try TemporaryFolder("qos-thermal")
        for number in 0...3 { try folder.write("sys/class/thermal/thermal_zone\(number)/type", "cpu") }
        #expect(unsafe mkfifo(folder["sys/class/thermal/thermal_zone0/temp"], 0o600) == 0)
        #expect(unsafe mkdir(folder["sys/class/thermal/thermal_zone1/temp"], 0o700) == 0)
        #expect(unsafe symlink("/dev/zero", folder["sys/class/thermal/thermal_zone2/temp"]) == 0)
        try folder.write("sys/class/thermal/thermal_zone3/temp", String(repeating: "1", count: 1 << 20))
        let found = ThermalReader(root: FileRoot(folder.path)).read()
        #expect(found.problem?.hasPrefix("no thermal sensor can be read") == true)
    }
}
