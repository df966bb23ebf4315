#if Observability
import Logging
import QoSCore
import QoSObservability
import QoSTesting
import QoSWorkloads
import QoSWorkloadsTesting
import Synchronization
import Testing

/// Works for some seconds, or throws.
private struct Nap: Workload {
    static let name: WorkloadName = "nap"
    struct Parameters: Codable, Sendable {
        var seconds = 0
        var fails = false
    }
    struct Broken: Error {}
    let clock: VirtualWorkloadClock

    func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
        if parameters.fails { throw Broken() }
        for _ in 0..<parameters.seconds {
            try await context.breathe()
            try await clock.sleep(until: clock.elapsed + .seconds(1), tolerance: .zero)
        }
        return .finished
    }
}

/// Named conditions that a test sets.
private final class Switches: ConditionSource {
    private let unmet = Mutex<Set<String>>([])
    private let (stream, hints) = AsyncStream.makeStream(of: Void.self)

    func set(_ names: Set<String>) {
        unmet.withLock { $0 = names }
        hints.yield()
    }

    func verdict(on condition: WorkloadCondition) -> ConditionVerdict {
        unmet.withLock { $0.contains(condition.label) } ? .unmet("\(condition) is off") : .met
    }

    func changes() -> AsyncStream<Void> { stream }
}

@Suite("Logs and metrics of workloads, in virtual time")
struct ObservabilityTests {
    private let scheduler = DeterministicScheduler(cores: 2)
    private let switches = Switches()
    private let log = LogBook()
    private let book = MetricBook()

    private func run(_ body: @escaping @Sendable (WorkloadHost, WorkloadMetrics) async throws -> Void) throws {
        let clock = VirtualWorkloadClock(scheduler.clock)
        let metrics = WorkloadMetrics(book)
        var configuration = WorkloadHost.Configuration()
        configuration.clock = clock
        configuration.conditions = switches
        configuration.addObserver(metrics)
        configuration.addObserver(WorkloadLog(log.logger))
        let host = try WorkloadHost(
            store: InMemoryWorkloadStore(), on: scheduler, workloads: [Nap(clock: clock)],
            configuration: configuration)
        let scheduler = scheduler
        try scheduler.run {
            scheduler.startDetachedTask(at: .default) { try? await host.run() }
            try await body(host, metrics)
            host.stop()
        }
    }

    @Test("an attempt that finishes is counted with its duration, and logged with its item")
    func finishes() throws {
        try run { host, _ in
            let item = try await host.submit(Nap.self, .init(seconds: 3))
            _ = try await item.waitUntilFinished(promotes: false)
        }
        #expect(book["attempts", "nap", "finished"] == 1)
        #expect(book["attempt", "nap"] == 3)
        let line = try #require(log.lines.first { $0.message == "attempt finished" })
        #expect(line.level == .info)
        #expect(
            line.metadata == ["workload": "nap", "item": "1", "fence": "1", "state": "finished", "ms": "3000"])
        let begin = try #require(log.lines.first { $0.message == "attempt began" })
        #expect(begin.metadata["qos"] == "background" && begin.metadata["attempt"] == "1")
    }

    @Test("failed attempts and a dead item are counted, and the last error is logged as such")
    func dies() throws {
        try run { host, _ in
            let retry = RetryPolicy(maximumAttempts: 3)
            let item = try await host.submit(Nap.self, .init(fails: true), retry: retry)
            _ = try await item.waitUntilFinished(promotes: false)
        }
        #expect(book["attempts", "nap", "failed"] == 3)
        #expect(book["dead", "nap"] == 1)
        let failures = log.lines.filter { $0.message == "attempt failed" }
        #expect(failures.map(\.level) == [.warning, .warning, .error])
        #expect(failures.last?.metadata["reason"] == "Broken()")
    }

    @Test("depth and wait by class, and the time of deferrals by reason, come from snapshots")
    func waits() throws {
        switches.set(["requests"])
        let (scheduler, switches) = (scheduler, switches)
        try run { host, metrics in
            func sleep(_ seconds: Int) async throws { try await scheduler.clock.sleep(for: .seconds(seconds)) }
            let held = try await host.submit(Nap.self, .init(), level: .utility, when: [.foregroundInTime])
            let later = try await host.submit(Nap.self, .init(), schedule: .after(.seconds(1000)))
            try await sleep(10)
            metrics.record(try await host.snapshot())
            #expect(book["items", "utility", "deferred"] == 1 && book["items", "background", "scheduled"] == 1)
            #expect(book["oldest.wait.ms", "utility"] == 10_000)
            #expect(book["deferral.ms", "requests"] == nil, "the first snapshot has no time before it")
            try await sleep(5)
            metrics.record(try await host.snapshot())
            #expect(book["deferral.ms", "requests"] == 5_000)
            switches.set([])
            _ = try await held.waitUntilFinished(promotes: false)
            metrics.record(try await host.snapshot())
            #expect(book["items", "utility", "deferred"] == 0 && book["oldest.wait.ms", "utility"] == 0)
            try await later.cancel(because: "enough")
        }
    }

    @Test("a pause of a running attempt and a promotion are counted and logged")
    func pauses() throws {
        let (scheduler, switches) = (scheduler, switches)
        try run { host, _ in
            let item = try await host.submit(Nap.self, .init(seconds: 10), when: [.thermal(atMost: .fair)])
            try await scheduler.clock.sleep(for: .seconds(2))
            switches.set(["heat"])
            try await scheduler.clock.sleep(for: .seconds(4))
            let snapshot = try await host.snapshot()
            #expect(snapshot.items.first?.pause == "heat at most fair is off")
            #expect(snapshot.items.first?.obstacles == ["heat"])
            #expect(snapshot.lanes[.background]?.deferred == 1 && snapshot.lanes[.background]?.running == 0)
            switches.set([])
            try await item.raise(to: .userInitiated)
            _ = try await item.waitUntilFinished(promotes: false)
        }
        #expect(book["pause", "nap"] == 4)
        #expect(book["promotions", "userInitiated"] == 1 && book["raises", "userInitiated"] == 1)
        #expect(log.lines.first { $0.message == "attempt paused" }?.metadata["reason"] == "heat at most fair is off")
        #expect(log.lines.first { $0.message == "attempt promoted" }?.metadata["qos"] == "userInitiated")
    }
}
#endif
