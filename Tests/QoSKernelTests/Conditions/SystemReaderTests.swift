import QoSCore
import QoSKernel
import QoSTesting
import Testing

@Suite("The reader of all sources")
struct SystemReaderTests {
    @Test("S1 S3 S4 an empty tree gives nominal conditions, each with a reason")
    func empty() throws {
        let tree = try MadeTree(["/x": ""])
        var machine = ConditionMachine()
        let readings = PatientSystemReader(root: tree.root, paths: []).read()
        let found = machine.observe(readings, at: SchedulerInstant(nanoseconds: 0))
        #expect(found.isNominal)
        #expect(!found.thermal.isKnown && !found.thermal.reason.isEmpty)
        for kind in PressureKind.allCases {
            #expect(!found[kind].isKnown && !found[kind].reason.isEmpty, "\(kind)")
        }
    }

    /// Every file that a reader opens.
    private static let files = [
        "/sys/class/thermal/thermal_zone0/temp", "/sys/class/thermal/thermal_zone0/type",
        "/sys/class/thermal/thermal_zone0/trip_point_0_type", "/sys/class/thermal/thermal_zone0/trip_point_0_temp",
        "/sys/class/thermal/cooling_device0/type", "/sys/class/thermal/cooling_device0/cur_state",
        "/sys/class/thermal/cooling_device0/max_state", "/sys/class/power_supply/BAT0/type",
        "/sys/class/power_supply/BAT0/capacity", "/sys/class/power_supply/BAT0/status",
        "/sys/firmware/acpi/platform_profile", "/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io",
        "/proc/loadavg", "/proc/stat", "/proc/meminfo", "/proc/self/cgroup", "/sys/fs/cgroup/cgroup.procs",
        "/sys/fs/cgroup/a/cpu.stat", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/a/memory.current",
        "/sys/fs/cgroup/a/memory.stat",
    ]

    @Test(
        "S1 S3 S4 whatever stands in the files, reading ends and numbers are in range",
        arguments: 0..<48 as Range<UInt64>)
    func garbage(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let words = [
            "", "\n", "0", "1", "-1", "100", "-273000", "95000", "critical", "passive", "Processor", "Battery", "cpu",
            "Discharging", "0::/a", "4:memory:/a", "nr_periods", "nr_throttled", "some", "avg10=100.00", "avg60=1",
            "avg300=1", "total=5", "MemTotal:", "MemAvailable:", "kB", "\(UInt64.max)", "\(Int64.min)", "nan", "1e400",
            "\u{0}", "\u{fffd}", ":", "max", " ", "../..", "inf", "%n",
        ]
        var files: [String: String] = [:]
        for file in Self.files where Int.random(in: 0..<8, using: &random) > 0 {
            let count = Int.random(in: 0...12, using: &random)
            files[file] = (0..<count).map { _ in words.randomElement(using: &random) ?? "" }
                .joined(separator: Bool.random(using: &random) ? " " : "\n")
        }
        let tree = try MadeTree(files.merging(["/x": ""]) { $1 })
        let readings = PatientSystemReader(root: tree.root, paths: []).read()
        for zone in readings.thermal.value?.zones ?? [] { #expect(-50...200 ~= zone.temperature, "seed \(seed)") }
        for device in readings.thermal.value?.cooling ?? [] { #expect(0...1 ~= device.use, "seed \(seed)") }
        if let level = readings.power.value?.batteryLevel { #expect(0...1 ~= level, "seed \(seed)") }
        for stall in [readings.cpu, readings.memory, readings.io] {
            if let share = stall.value?.average10 { #expect(0...100 ~= share, "seed \(seed)") }
        }
        if let room = readings.freeMemory.value { #expect(0...1 ~= room.share, "seed \(seed)") }
        var machine = ConditionMachine()
        for time in 0..<3 as Range<Int64> {
            _ = machine.observe(readings, at: SchedulerInstant(nanoseconds: time * 1_000_000_000))
        }
    }

    @Test("S1 S3 S4 this machine is read without a failure", .tags(.kernel))
    func machine() {
        let readings = PatientSystemReader().read()
        #expect(readings.steal.value != nil && readings.freeMemory.value != nil)
    }
}
