import QoSCore
import QoSTesting
import QoSWorkloads
import QoSWorkloadsTesting
import Synchronization

/// A host in virtual time, and what tests look at.
final class HostWorld: Sendable {
    let scheduler: DeterministicScheduler
    let clock: VirtualWorkloadClock
    let store: ForgetfulStore
    let processes = SimulatedProcesses()
    private let eventList = Mutex<[WorkloadHostEvent]>([])
    private let conditions = ManualConditions()

    init(cores: Int = 2, store: ForgetfulStore = ForgetfulStore()) {
        scheduler = DeterministicScheduler(cores: cores)
        clock = VirtualWorkloadClock(scheduler.clock)
        self.store = store
    }

    var events: [WorkloadHostEvent] { eventList.withLock { $0 } }

    func host(
        _ workloads: [any Workload], name: String = "first", store: ForgetfulStore? = nil,
        _ change: (inout WorkloadHost.Configuration) -> Void = { _ in }
    ) throws -> WorkloadHost {
        var configuration = WorkloadHost.Configuration()
        configuration.name = name
        configuration.clock = clock
        configuration.holders = processes
        configuration.conditions = conditions
        configuration.observer = { [weak self] event in self?.eventList.withLock { $0.append(event) } }
        change(&configuration)
        return try WorkloadHost(
            store: store ?? self.store, on: scheduler, workloads: workloads, configuration: configuration)
    }

    /// Starts hosts, runs a body in virtual time to its end, and stops the hosts.
    ///
    /// - Parameter limit: the virtual time after which the body counts as stalled.
    @discardableResult
    func run<Success: Sendable>(
        _ hosts: [WorkloadHost], at qosClass: QoSClass = .background, within limit: Duration = .seconds(3600),
        _ body: @escaping @Sendable () async throws -> Success
    ) throws -> Success {
        let scheduler = self.scheduler
        let results = Collected<Result<Success, any Error>>()
        scheduler.startDetachedTask(at: qosClass) {
            for host in hosts { scheduler.startDetachedTask(at: .default) { try? await host.run() } }
            let result: Result<Success, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            for host in hosts { host.stop() }
            results.append(result)
        }
        try scheduler.run(until: { !results.values.isEmpty }, within: limit)
        guard let result = results.values.first else { throw DeterministicSchedulerError.stalled(at: scheduler.now) }
        return try result.get()
    }

    /// Lets the hosts begin, without time.
    func begin() async throws { try await clock.clock.sleep(for: .nanoseconds(1)) }

    func sleep(_ duration: Duration) async throws { try await clock.clock.sleep(for: duration) }

    /// Makes conditions with these labels fail.
    func setUnmet(_ names: Set<String>) { conditions.setUnmet(names) }

    /// Suspends until an item has a state.
    func wait(for state: WorkloadState, of item: WorkloadItem) async throws -> WorkloadRecord {
        let changes = store.changes()
        var iterator = changes.makeAsyncIterator()
        while true {
            if let record = try await item.record, record.state == state { return record }
            _ = await iterator.next()
        }
    }
}

/// Conditions that a test sets.
private final class ManualConditions: ConditionSource {
    private struct State {
        var unmet: Set<String> = []
        var watchers: [AsyncStream<Void>.Continuation] = []
    }
    private let state = Mutex(State())

    func setUnmet(_ names: Set<String>) {
        let watchers = state.withLock { state in
            state.unmet = names
            return state.watchers
        }
        for watcher in watchers { watcher.yield() }
    }

    func verdict(on condition: WorkloadCondition) -> ConditionVerdict {
        let name = condition.label
        return state.withLock { $0.unmet.contains(name) } ? .unmet("\(name) is missing") : .met
    }

    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.watchers.append(continuation) }
        return stream
    }
}

/// A workload whose body a test gives.
struct Scripted: Workload {
    static let name: WorkloadName = "scripted"
    struct Parameters: Codable, Sendable { var text = "" }
    struct Checkpoint: Codable, Sendable, Hashable { var done = 0 }

    var timeLimit: Duration?
    var body: @Sendable (Parameters, WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome

    init(
        timeLimit: Duration? = nil,
        _ body: @escaping @Sendable (Parameters, WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome
    ) {
        self.timeLimit = timeLimit
        self.body = body
    }

    func run(_ parameters: Parameters, in context: WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome {
        try await body(parameters, context)
    }

    func migrate(checkpoint json: String) throws -> Checkpoint? {
        json.contains("\"old\"") ? Checkpoint(done: 42) : nil
    }
}

/// Values that tasks of a test collect.
final class Collected<Value: Sendable>: Sendable {
    private let list = Mutex<[Value]>([])
    var values: [Value] { list.withLock { $0 } }
    func append(_ value: Value) { list.withLock { $0.append(value) } }
}

/// A clock that counts the sleeps on another one.
final class CountingClock: WorkloadClock {
    private let base: VirtualWorkloadClock
    private let count = Mutex(0)

    init(_ base: VirtualWorkloadClock) {
        self.base = base
    }

    var sleeps: Int { count.withLock { $0 } }
    var now: WallTime { base.now }
    var elapsed: Duration { base.elapsed }

    func sleep(until time: Duration, tolerance: Duration) async throws {
        count.withLock { $0 += 1 }
        try await base.sleep(until: time, tolerance: tolerance)
    }
}
