import Testing

@testable import QoSCore

@Suite("S7 the energy report")
struct EnergyReportTests {
    private func thread(
        _ id: Int32, _ name: String, _ seconds: Double, _ voluntary: UInt64 = 0, _ involuntary: UInt64 = 0
    ) -> EnergySnapshot.Thread {
        .init(
            id: id, name: name, processorNanoseconds: UInt64(seconds * 1e9), voluntarySwitches: voluntary,
            involuntarySwitches: involuntary)
    }

    private func snapshot(
        _ second: UInt64, _ threads: [EnergySnapshot.Thread], process: UInt64? = nil,
        _ counters: [EnergySnapshot.Counter] = []
    ) -> EnergySnapshot {
        EnergySnapshot(
            nanoseconds: second * 1_000_000_000, threads: threads, processNanoseconds: process, counters: counters)
    }

    @Test("S7 time and wake-ups belong to the classes by the names of the threads")
    func classes() throws {
        let report = EnergyReport(
            from: snapshot(10, [thread(1, "main", 1, 5), thread(2, "qos-bg-0", 2, 10), thread(3, "qos-ui-1", 3, 20)]),
            to: snapshot(
                12, [thread(1, "main", 1.5, 7), thread(2, "qos-bg-0", 2.9, 30, 4), thread(3, "qos-ui-1", 3.1, 40)]))
        #expect(report.seconds == 2 && abs(report.processorSeconds - 1.5) < 1e-6)
        #expect(report.classes.map(\.qosClass) == QoSClass.descending)
        let background = try #require(report.classes.last)
        #expect(abs(background.processorSeconds - 0.9) < 1e-6 && abs(background.share - 0.9) < 1e-6)
        #expect(background.wakeUpsPerSecond == 10)
        #expect(abs(try #require(report.shareAtUtilityOrLower) - 0.9) < 1e-6)
        #expect(report.wakeUpsPerSecond == 21)
        #expect(report.threads.map(\.name) == ["qos-bg-0", "main", "qos-ui-1"])
        #expect(report.threads[0].involuntarySwitchesPerSecond == 2)
        #expect(report.hasWorkers)
    }

    @Test(
        "S7 other names belong to no class",
        arguments: ["main", "qos-loop", "qos-monitor", "qos-bg", "qos-bg-", "qos-bg-x", "xqos-bg-0", "qos-zz-0", ""])
    func otherNames(name: String) {
        let report = EnergyReport(from: snapshot(0, [thread(1, name, 0)]), to: snapshot(1, [thread(1, name, 1)]))
        #expect(report.classes.allSatisfy { $0.processorSeconds == 0 })
        #expect(report.shareAtUtilityOrLower == nil && !report.hasWorkers)
        #expect(report.processorSeconds == 1)
    }

    @Test("S7 threads that end, begin, or get the id of an ended one")
    func comingAndGoing() throws {
        let report = EnergyReport(
            from: snapshot(0, [thread(1, "a", 5), thread(2, "qos-ut-0", 9, 90)], process: 14_000_000_000),
            to: snapshot(1, [thread(2, "qos-bg-0", 0.25, 3), thread(3, "c", 0.5)], process: 15_000_000_000))
        #expect(report.endedThreads == 2)
        #expect(report.threads.allSatisfy { $0.isNew })
        #expect(report.classes.last?.processorSeconds == 0.25)
        #expect(report.processorSeconds == 1, "the process's own time has that of ended threads")
    }

    @Test(
        "S7 two readings at one moment give no rates, and a clock that goes back neither",
        arguments: [5, 3] as [UInt64])
    func noTime(second: UInt64) {
        let report = EnergyReport(
            from: snapshot(5, [thread(1, "a", 1, 1)]), to: snapshot(second, [thread(1, "a", 2, 9)]))
        #expect(report.seconds == 0 && report.wakeUpsPerSecond == 0 && report.threads[0].wakeUpsPerSecond == 0)
    }

    @Test("S7 power comes from the counters, also when one begins again")
    func power() {
        func counter(_ value: UInt64) -> [EnergySnapshot.Counter] {
            [.init(name: "package-0", microjoules: value, range: 10_000_000)]
        }
        let plain = EnergyReport(from: snapshot(0, [], counter(1_000_000)), to: snapshot(2, [], counter(5_000_000)))
        #expect(plain.power.map(\.watts) == [2] && plain.powerProblem == nil)
        let wrapped = EnergyReport(from: snapshot(0, [], counter(9_000_000)), to: snapshot(1, [], counter(2_000_000)))
        #expect(wrapped.power.map(\.joules) == [3])
        #expect(EnergyReport(from: snapshot(0, []), to: snapshot(1, [])).powerProblem != nil)
    }

    @Test("S7 the text names the guideline and the busiest threads")
    func text() {
        let threads = (1...30).map { thread(Int32($0), "t\($0)", 0) } + [thread(99, "qos-bg-0", 0)]
        let later = (1...30).map { thread(Int32($0), "t\($0)", 0.001) } + [thread(99, "qos-bg-0", 1)]
        let lines = EnergyReport(from: snapshot(0, threads), to: snapshot(1, later)).lines()
        #expect(lines.contains("  1.030 s of processor time in 1.0 s, 0.0 wake-ups/s"))
        #expect(lines.contains { $0.contains("100.0 % of the workers' time") && $0.contains("90.0 %") })
        #expect(lines.contains("  and 11 more"))
        #expect(lines.last == "  unknown: no energy counters")
    }
}
