import QoSCore
import QoSFileTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("The monitor, driven by hand", .timeLimit(.minutes(5)))
struct SystemMonitorTests {
    private let machine = SimulatedMachine()

    private func limits(_ scheduler: QoSScheduler) -> [Int?] {
        QoSClass.descending.map { scheduler.widthLimit(for: $0) }
    }

    private func monitor(
        _ scheduler: QoSScheduler?, _ change: (inout SystemMonitor.Configuration) -> Void = { _ in }
    ) throws -> SystemMonitor {
        var configuration = machine.configuration
        change(&configuration)
        return try SystemMonitor(governing: scheduler, configuration: configuration, isDrivenByHand: true)
    }

    @Test("S1 S2 heat limits the scheduler's classes at once, and they come back without swinging")
    func heat() async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 4, appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let monitor = try monitor(scheduler)
            machine.setTemperature(40)
            monitor.tick(at: second(0))
            #expect(limits(scheduler) == [nil, nil, nil, nil, nil] && monitor.conditions.thermal.isKnown)
            machine.setTemperature(95)
            // A period of the duty begins.
            monitor.tick(at: second(0.8))
            #expect(limits(scheduler) == [nil, nil, nil, 2, 0])
            #expect(
                monitor.decision[.background].reasons == [
                    "thermal state serious: cpu has 95 °C, and serious begins at 90 °C"
                ])
            machine.setTemperature(101)
            monitor.tick(at: second(2))
            #expect(limits(scheduler) == [nil, 2, 1, 0, 0])
            machine.setTemperature(50)
            var seen: [[Int?]] = [limits(scheduler)]
            for time in 3..<30 {
                monitor.tick(at: second(Double(time)))
                if limits(scheduler) != seen.last { seen.append(limits(scheduler)) }
            }
            #expect(seen == [[nil, 2, 1, 0, 0], [nil, nil, nil, nil, nil]])
            #expect(monitor.decision == GovernorDecision())
        }
    }

    @Test("S3 low-power mode by hand pauses background work, which goes on when it ends")
    func lowPower() async throws {
        try await withScheduler { scheduler in
            let monitor = try monitor(scheduler)
            monitor.setLowPowerMode(true)
            monitor.tick(at: second(0))
            #expect(monitor.conditions.power.state.isLowPowerMode && !monitor.permits(.background))
            #expect(monitor.permits(.default) && !monitor.permits(.default, isDiscretionary: true))
            #expect(monitor.permits(.userInitiated, isDiscretionary: true))
            let runs = Collected<Int>()
            let task = scheduler.startTask(at: .background) { runs.append(1) }
            await scheduler.startTask(at: .userInteractive) {}.escaped
            #expect(runs.all.isEmpty)
            monitor.setLowPowerMode(false)
            monitor.tick(at: second(1))
            #expect(runs.all.isEmpty, "the governor holds it for a moment")
            monitor.tick(at: second(3))
            await task.escaped
            #expect(runs.all == [1])
        }
    }

    @Test("S4 delayed requests throttle background work in time and width, and never stop it")
    func latency() async throws {
        try await withScheduler { scheduler in
            let monitor = try monitor(scheduler) { $0.latencyLimit = LatencyLimit(.milliseconds(5), minimumCount: 10) }
            for _ in 0..<10 { monitor.recordLatency(.milliseconds(1)) }
            monitor.tick(at: second(0))
            #expect(monitor.conditions.foreground.state == .nominal && monitor.conditions.foreground.isKnown)
            for _ in 0..<10 { monitor.recordLatency(.milliseconds(8)) }
            monitor.tick(at: second(0.8))
            #expect(monitor.conditions.foreground.state == .delayed)
            #expect(scheduler.widthLimit(for: .background) == 1)
            monitor.tickDuty(at: second(0.9))
            #expect(scheduler.widthLimit(for: .background) == 0)
            monitor.tickDuty(at: second(1.2))
            #expect(scheduler.widthLimit(for: .background) == 1)
            for time in 2..<20 { monitor.tick(at: second(Double(time))) }
            #expect(scheduler.widthLimit(for: .background) == nil)
        }
    }

    @Test("S4 the latency of a body counts, also when it throws")
    func measures() async throws {
        struct Failure: Error {}
        let monitor = try monitor(nil) { $0.latencyLimit = LatencyLimit(.nanoseconds(1), minimumCount: 2) }
        #expect(await monitor.measuringLatency { 7 } == 7)
        await #expect(throws: Failure.self) {
            try await monitor.measuringLatency { () async throws in throw Failure() }
        }
        monitor.tick(at: second(0))
        #expect(monitor.conditions.foreground.state == .delayed)
    }

    @Test("S2 a policy that stops everything leaves userInteractive running")
    func clamps() async throws {
        struct StopAll: GovernorPolicy {
            func decision(for conditions: SystemConditions) -> GovernorDecision {
                var decision = GovernorDecision()
                decision.restrict(from: .userInteractive, because: "all") { $0.permission = .stop }
                return decision
            }
        }
        try await withScheduler { scheduler in
            let monitor = try monitor(scheduler) { $0.policy = StopAll() }
            monitor.tick(at: second(0))
            #expect(limits(scheduler) == [nil, 0, 0, 0, 0])
            await scheduler.startTask(at: .userInteractive) {}.escaped
            monitor.stop()
            #expect(limits(scheduler) == [nil, nil, nil, nil, nil])
        }
    }

    @Test("S1 simulated states stand in for observed ones; a limit of the program stays")
    func overrides() async throws {
        try await withScheduler { scheduler in
            scheduler.setWidthLimit(1, for: .default)
            let monitor = try monitor(scheduler)
            monitor.overrides.thermal = .serious
            monitor.tick(at: second(0))
            #expect(limits(scheduler) == [nil, nil, 1, 1, 0])
            monitor.overrides = ConditionOverrides()
            monitor.tick(at: second(1))
            monitor.tick(at: second(3))
            #expect(limits(scheduler) == [nil, nil, 1, nil, nil])
        }
    }

    @Test("S1 states in a file count while they stand there; those that the program sets count before them")
    func simulationFile() async throws {
        let folder = try TemporaryFolder("qos-monitor")
        try await withScheduler { scheduler in
            let monitor = try monitor(scheduler) { $0.simulationFile = folder["states"] }
            monitor.tick(at: second(0))
            #expect(!monitor.conditions.thermal.isKnown && monitor.simulationProblem == nil)
            try folder.write("states", "thermal=serious\nio=severe\n", isReplaced: true)
            monitor.tick(at: second(1))
            #expect(monitor.conditions.thermal == Condition(.serious, because: "simulated"))
            #expect(monitor.conditions[.io].state == .severe && !monitor.permits(.background))
            monitor.overrides.thermal = .fair
            monitor.tick(at: second(2))
            #expect(monitor.conditions.thermal.state == .fair && monitor.overrides.pressure.isEmpty)
            monitor.overrides.thermal = nil
            try folder.write("states", "thermal=warm\n", isReplaced: true)
            monitor.tick(at: second(3))
            #expect(!monitor.conditions.thermal.isKnown && monitor.simulationProblem?.contains("line 1") == true)
            try folder.write("states", "", isReplaced: true)
            for time in 4..<8 { monitor.tick(at: second(Double(time))) }
            #expect(monitor.simulationProblem == nil && monitor.permits(.background))
        }
    }

    @Test("S2 a shutdown ends queued background work although the governor has stopped it")
    func shutdown() async throws {
        try await withScheduler { scheduler in
            let monitor = try monitor(scheduler)
            monitor.overrides.thermal = .critical
            monitor.tick(at: second(0))
            let task = scheduler.startTask(at: .background) { 7 }
            async let report = scheduler.shutdown(within: .seconds(60))
            while !scheduler.core.group.isEnding { await Task.yield() }
            monitor.overrides.thermal = .serious
            monitor.tick(at: second(1))
            #expect(await task.escaped == 7)
            #expect(try await report.isClean)
            #expect(limits(scheduler) == [nil, nil, nil, nil, nil])
        }
    }

    @Test(
        "S1 a setup that makes no sense is refused",
        arguments: [
            { $0.interval = .milliseconds(9) }, { $0.interval = .seconds(-1) }, { $0.lowBatteryLevel = 1.5 },
            { $0.lowBatteryLevel = .nan }, { $0.latencyLimit = LatencyLimit(.zero) },
            { $0.latencyLimit = LatencyLimit(.seconds(1), share: 2) },
            { $0.latencyLimit = LatencyLimit(.seconds(1), window: .zero) },
        ] as [@Sendable (inout SystemMonitor.Configuration) -> Void])
    func refuses(change: @Sendable (inout SystemMonitor.Configuration) -> Void) {
        #expect(throws: QoSRuntimeError.self) { try monitor(nil, change) }
    }
}
