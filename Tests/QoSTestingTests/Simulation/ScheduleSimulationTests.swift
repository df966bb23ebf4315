import QoSCore
import QoSSimulation
import QoSTesting
import Testing

@Suite("A simulated schedule")
struct ScheduleSimulationTests {
    @Test("C7 a higher job takes the core, and the lower one goes on afterwards")
    func preemption() throws {
        let report = try ScheduleSimulation(cores: 1, "ui: --2\nbg: 4").run()
        try report.timeline().require("ui: --11\nbg: 11..11")
        #expect(report.outcomes.map(\.job.qosClass) == [.background, .userInteractive])
        #expect(report.outcomes[1].started == .milliseconds(2))
        #expect(report.outcomes[1].sojourn == .milliseconds(2))
        #expect(report.outcomes[1].delay == .zero)
        #expect(report.coreTime(of: .background) > .milliseconds(3))
        #expect(report.longestWait(of: .background) == .milliseconds(2))
    }

    @Test(
        "C7 userInteractive at half load is as fast beside saturating lower classes as alone",
        arguments: [1, 2, 3] as [UInt64])
    func undisturbed(_ seed: UInt64) throws {
        let high = SimulatedJob.arrivals(
            of: .userInteractive, load: 1, length: .microseconds(300), for: .milliseconds(500), seed: seed)
        let low = [QoSClass.default, .utility, .background].flatMap { qosClass in
            SimulatedJob.arrivals(
                of: qosClass, load: 1, length: .milliseconds(2), for: .milliseconds(500), seed: seed + 9)
        }
        let alone = try ScheduleSimulation(cores: 2, jobs: high).run()
        let loaded = try ScheduleSimulation(cores: 2, jobs: high + low).run()
        let (quiet, busy) = (
            alone.sojourn(of: .userInteractive, quantile: 0.99), loaded.sojourn(of: .userInteractive, quantile: 0.99)
        )
        #expect(busy <= quiet * 1.15, "seed \(seed): \(quiet) alone, \(busy) loaded")
    }

    @Test("arrivals have the load that was asked for, by seed")
    func arrivals() {
        let jobs = SimulatedJob.arrivals(
            of: .utility, load: 0.5, length: .milliseconds(1), for: .seconds(20), seed: 4)
        #expect((9_000...11_000).contains(jobs.count))
        #expect(
            jobs == SimulatedJob.arrivals(of: .utility, load: 0.5, length: .milliseconds(1), for: .seconds(20), seed: 4)
        )
        #expect(zip(jobs, jobs.dropFirst()).allSatisfy { $0.arrival <= $1.arrival })
        #expect(
            SimulatedJob.arrivals(of: .utility, load: 0, length: .milliseconds(1), for: .seconds(1), seed: 4).isEmpty)
    }

    @Test(
        "every job comes to its end, whatever the order of jobs that arrive together", arguments: 0..<8 as Range<UInt64>
    )
    func shuffled(_ seed: UInt64) throws {
        let jobs = (0..<200).map { index in
            SimulatedJob(
                QoSClass.allCases[index % 5], arrival: .microseconds(index / 50 * 700),
                length: .microseconds(50 + index))
        }
        let simulation = ScheduleSimulation(cores: 3, jobs: jobs)
        let report = try simulation.run(seed: seed)
        #expect(report.outcomes.count == 200, "seed \(seed)")
        #expect(Set(report.outcomes.map(\.job)) == Set(jobs), "seed \(seed)")
        #expect(report.outcomes.allSatisfy { $0.ended - $0.started >= $0.job.length }, "seed \(seed)")
        #expect(try simulation.run(seed: seed).outcomes == report.outcomes)
    }

    @Test("a world of jobs is refused for rows that are no class and marks that are no length")
    func malformed() {
        #expect(throws: TimelineError.unknownClass("core0")) { try ScheduleSimulation(cores: 1, "core0: 1") }
        #expect(throws: TimelineError.unknownMark("a")) { try ScheduleSimulation(cores: 1, "ui: a") }
        #expect(throws: TimelineError.unknownMark("x")) { try SimulatedWorld("ui: 1x", cores: 1) }
    }

    @Test("without jobs there is nothing to see")
    func empty() throws {
        let report = try ScheduleSimulation(jobs: []).run()
        #expect(report.outcomes.isEmpty)
        #expect(report.timeline().columns == 0)
        #expect(report.sojourn(of: .default, quantile: 0.5) == .zero)
    }

    @Test("a failing list shrinks to elements of which none can be left out")
    func shrinks() {
        let smallest = shrink(Array(0..<1_000)) { $0.contains(17) && $0.contains(911) && $0.count >= 2 }
        #expect(smallest == [17, 911])
        #expect(shrink([Int]()) { _ in true }.isEmpty)
        #expect(shrink([1, 2, 3]) { _ in true }.isEmpty)
        #expect(shrink([1, 2, 3]) { $0.count == 3 } == [1, 2, 3])
    }
}
