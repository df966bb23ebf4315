import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@Suite("Background activities in virtual time", .timeLimit(.minutes(5)))
struct ActivitySimulationTests {
    private let scheduler = DeterministicScheduler()
    private let simulation: ActivitySimulation
    private let starts = Collected<Duration>()

    init() {
        simulation = ActivitySimulation(on: scheduler)
    }

    private func hourly(
        _ identifier: String = "tidy", ifMissed: ActivitySchedule.MissedRunPolicy = .runOnce
    ) -> BackgroundActivity {
        BackgroundActivity(
            identifier, .every(.seconds(3_600), tolerance: .seconds(600), ifMissed: ifMissed),
            runLimit: .seconds(100), deferralLimit: .seconds(5))
    }

    /// Adds an activity whose body computes in steps of a second, and looks at its context between them.
    private func schedule(_ activity: BackgroundActivity, steps: Int = 10, listens: Bool = true) throws {
        try simulation.activities.schedule(activity) { [scheduler, starts] run in
            starts.append(scheduler.now.offset)
            for _ in 0..<steps {
                if listens, run.shouldDefer { return .deferred }
                await scheduler.work(for: .seconds(1))
            }
            return .finished
        }
    }

    private func heat(_ state: ThermalState) {
        simulation.conditions.thermal = Condition(state, because: "simulated")
    }

    private var phase: BackgroundActivityState.Phase? {
        simulation.activities.state(of: "tidy")?.phase
    }

    @Test("S5 a day of an hourly activity has one run in each interval, at the beginning of its window")
    func day() throws {
        try schedule(hourly())
        try scheduler.advance(by: .seconds(86_400 + 600))
        #expect(starts.all.count == 24)
        for (index, start) in starts.all.enumerated() {
            let due = Duration.seconds(3_600 * (index + 1))
            #expect(start >= due && start <= due + .seconds(600))
        }
        #expect(simulation.activities.state(of: "tidy")?.lastResult == .finished)
        #expect(simulation.activities.state(of: "tidy")?.lastDuration == .seconds(10))
    }

    @Test("S5 heat at the due moment keeps it waiting with a reason; it runs late when the machine is cool")
    func lateRun() throws {
        try schedule(hourly())
        heat(.serious)
        try scheduler.advance(by: .seconds(5_000))
        #expect(phase == .waitsForConditions("background is stopped: thermal state serious: simulated"))
        heat(.nominal)
        try scheduler.advance(by: .seconds(1))
        #expect(starts.all == [.seconds(5_000)])
        try scheduler.advance(by: .seconds(3_600 - 700))
        #expect(starts.all.count == 1, "the next run must not come too soon after the late one")
        try scheduler.advance(by: .seconds(800))
        #expect(starts.all.count == 2)
    }

    @Test("S5 with the policy to skip, a window with bad conditions is left out")
    func skipped() throws {
        try schedule(hourly(ifMissed: .skip))
        heat(.serious)
        try scheduler.advance(by: .seconds(5_000))
        heat(.nominal)
        try scheduler.advance(by: .seconds(2_199))
        #expect(starts.all.isEmpty)
        try scheduler.advance(by: .seconds(601))
        #expect(starts.all.count == 1)
    }

    @Test(
        "S5 heat during a run asks it to defer; it goes on when the machine is cool, and that is one run of its interval"
    )
    func deferredRun() throws {
        try schedule(hourly())
        try scheduler.advance(by: .seconds(3_600 + 20))
        let start = try #require(starts.all.first)
        try scheduler.advance(by: .seconds(3_600))
        #expect(starts.all.count == 2)
        #expect(
            simulation.activities.state(of: "tidy")?.runs == 2 || simulation.activities.state(of: "tidy")?.runs == 1)
        // The third run: heat comes three seconds after its beginning.
        try scheduler.run(until: { starts.all.count == 3 }, within: .seconds(7_200))
        try scheduler.advance(by: .seconds(3))
        heat(.serious)
        try scheduler.advance(by: .seconds(2))
        #expect(simulation.activities.state(of: "tidy")?.lastResult == .deferred)
        #expect(phase == .waits(for: .seconds(58)) || phase == .waits(for: .seconds(59)))
        try scheduler.advance(by: .seconds(200))
        #expect(phase == .waitsForConditions("background is stopped: thermal state serious: simulated"))
        heat(.nominal)
        try scheduler.advance(by: .seconds(60))
        #expect(starts.all.count == 4 && simulation.activities.state(of: "tidy")?.lastResult == .finished)
        let fourth = starts.all[3]
        try scheduler.run(until: { starts.all.count == 5 }, within: .seconds(7_200))
        #expect(starts.all[4] - fourth >= .seconds(3_000))
        #expect(start >= .seconds(3_600))
    }

    @Test("S5 a body that ignores the request to defer is reported, goes on, and its end counts as a run")
    func ignores() throws {
        try schedule(hourly(), steps: 20, listens: false)
        try scheduler.run(until: { !starts.all.isEmpty }, within: .seconds(7_200))
        heat(.serious)
        try scheduler.advance(by: .seconds(30))
        let reason = "background is stopped: thermal state serious: simulated"
        #expect(
            simulation.events.suffix(3) == [
                .askedToDefer("tidy", reason: reason), .overran("tidy", .deferralLimit, after: .seconds(5)),
                .ended("tidy", .finished),
            ])
    }

    @Test("S5 a body that never ends is asked to defer at its limit, reported twice, and blocks no other activity")
    func endless() throws {
        try simulation.activities.schedule(hourly("endless")) { [scheduler] _ in
            while !Task.isCancelled { try? await scheduler.clock.sleep(for: .seconds(10)) }
            return .deferred
        }
        try schedule(hourly())
        try scheduler.advance(by: .seconds(3_600 * 3))
        #expect(starts.all.count >= 2)
        let overruns = simulation.events.compactMap { event -> ActivityOverrun? in
            if case .overran("endless", let overrun, _) = event { overrun } else { nil }
        }
        #expect(overruns == [.runLimit, .deferralLimit])
        guard
            case .isAskedToDefer("the run exceeds its limit", let duration) = simulation.activities.state(
                of: "endless")?.phase
        else {
            Issue.record("\(simulation.activities.states)")
            return
        }
        #expect(duration > .seconds(3_000))
        simulation.activities.cancel("endless")
        try scheduler.advance(by: .seconds(11))
        #expect(simulation.activities.state(of: "endless") == nil)
    }

    @Test("S5 a wall clock that is set during the wait changes nothing")
    func wallClock() throws {
        try schedule(hourly())
        try scheduler.advance(by: .seconds(1_000))
        simulation.setWallClock(by: .seconds(-86_400 * 365))
        try scheduler.advance(by: .seconds(2_600 + 80))
        #expect(starts.all.count == 1)
        simulation.setWallClock(by: .seconds(86_400 * 730))
        try scheduler.advance(by: .seconds(1_800))
        #expect(starts.all.count == 1)
    }

    @Test("S5 a single activity whose body throws has failed, and does not run again")
    func throwing() throws {
        struct Failure: Error, CustomStringConvertible {
            let description = "no such file"
        }
        try simulation.activities.schedule(BackgroundActivity("once", .once())) { _ in throw Failure() }
        try scheduler.advance(by: .seconds(3_600))
        let state = try #require(simulation.activities.state(of: "once"))
        #expect(state.phase == .ended && state.runs == 1 && state.lastResult == .failed("no such file"))
        #expect("\(state)" == "once: ended; last run failed: no such file")
    }

    @Test("S5 the end of the scheduler asks the runs to defer, and begins no more")
    func end() throws {
        try schedule(hourly())
        try scheduler.run(until: { !starts.all.isEmpty }, within: .seconds(7_200))
        try scheduler.advance(by: .seconds(2))
        simulation.endScheduler()
        try scheduler.advance(by: .seconds(3_600 * 3))
        #expect(starts.all.count == 1)
        #expect(simulation.activities.state(of: "tidy")?.lastResult == .deferred)
        #expect(throws: BackgroundActivityError.ended) { try schedule(hourly("late")) }
    }

    @Test(
        "S5 random worlds: no run begins under bad conditions, early, or too soon after a counted one",
        arguments: 0..<30)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let lengths = Collected<(began: Duration, isHot: Bool)>()
        let results = Collected<(Duration, BackgroundActivityOutcome)>()
        try simulation.activities.schedule(hourly()) { [scheduler, simulation] run in
            let began = scheduler.now.offset
            lengths.append((began, simulation.conditions.thermal.state >= .fair))
            for _ in 0..<60 {
                if run.shouldDefer {
                    results.append((began, .deferred))
                    return .deferred
                }
                await scheduler.work(for: .seconds(1))
            }
            results.append((began, .finished))
            return .finished
        }
        for _ in 0..<100 {
            heat(Int.random(in: 0..<3, using: &random) == 0 ? .fair : .nominal)
            try scheduler.advance(by: .seconds(Int.random(in: 1...2_000, using: &random)))
        }
        #expect(lengths.all.allSatisfy { !$0.isHot }, "seed \(seed)")
        let counted = results.all.filter { $0.1 == .finished }.map(\.0)
        #expect(counted.count > 3, "seed \(seed)")
        for (one, next) in zip(counted, counted.dropFirst()) { #expect(next - one >= .seconds(3_000), "seed \(seed)") }
    }
}
