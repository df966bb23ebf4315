#if SQLite
import Foundation
import Glibc
import QoSKernel
import QoSSQLiteStore
import Synchronization

/// A workload in steps, with a checkpoint after each. It notes each step before and after.
struct Steps: Workload {
    static let name: WorkloadName = "steps"
    static let count = 4
    struct Parameters: Codable, Sendable { var number: Int }
    struct Checkpoint: Codable, Sendable { var next = 0 }

    let journal: Journal
    let killer: Killer
    /// The time that a step takes; `nil` for no time.
    let pause: Duration?

    func run(_ parameters: Parameters, in context: WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome {
        var checkpoint = context.checkpoint ?? Checkpoint()
        let (item, fence) = (context.item.rawValue, context.lease.fence)
        killer.reached("run.begun")
        while checkpoint.next < Self.count {
            try await context.breathe()
            journal.write("ran", item, checkpoint.next, fence)
            checkpoint.next += 1
            if let pause { try await Task.sleep(for: pause) }
            killer.reached("run.worked")
            try await context.save(checkpoint)
            journal.write("saved", item, checkpoint.next, fence)
            killer.reached("run.saved")
        }
        killer.reached("run.ending")
        return .finished
    }
}

/// Ends the process at a named point.
final class Killer: Sendable {
    /// The points of the workload itself.
    static let points = ["run.begun", "run.worked", "run.saved", "run.ending"]

    private let point: String?
    private let left: Atomic<Int>

    /// Whether the point is one of a renewal, which needs an attempt that lasts.
    var isInRenewal: Bool { point?.hasPrefix("renew.") ?? false }

    init(_ point: String?, after count: Int) {
        self.point = point
        left = Atomic(count)
    }

    func reached(_ name: String) {
        guard name == point, left.wrappingSubtract(1, ordering: .relaxed).newValue == 0 else { return }
        kill(getpid(), SIGKILL)
    }

    func reached(_ point: SQLiteStoreConfiguration.FailPoint) {
        for call in Set(point.calls) { reached("\(call).\(point.moment.rawValue)") }
    }
}

/// One process with a host on the store. It submits items, and runs those that it gets.
struct Worker {
    let store: String
    let journal: Journal
    let killer: Killer
    /// Whether it ends when all items have ended, instead of submitting more.
    let drains: Bool

    func run() async throws {
        var settings = SQLiteStoreConfiguration()
        settings.durability = .processCrash
        settings.reached = { [killer] in killer.reached($0) }
        let store = try SQLiteStore(at: store, configuration: settings)
        let scheduler = try QoSScheduler()
        var configuration = WorkloadHost.Configuration()
        configuration.name = "process \(getpid())"
        configuration.leaseDuration = .seconds(1)
        configuration.observer = { [journal] event in
            if case .attemptEnded(let lease, _, .finished, _, _) = event { journal.write("ended", lease.item.rawValue) }
            if case .leaseLost(let lease, _) = event { journal.write("lost", lease.item.rawValue, lease.fence) }
        }
        // A renewal comes after a third of the lease.
        let steps = Steps(
            journal: journal, killer: killer, pause: killer.isInRenewal ? configuration.leaseDuration / 2 : nil)
        let host = try WorkloadHost(
            store: store, scheduler: scheduler, workloads: [steps], configuration: configuration)
        let running = Task { try await host.run() }
        if drains {
            let open: Set<WorkloadState> = [.scheduled, .blocked, .deferred, .ready, .running]
            while try await !store.records(matching: WorkloadQuery(states: open, limit: 1)).isEmpty {
                try await Task.sleep(for: .milliseconds(50))
            }
        } else {
            // Kills are no fault of the items: they have attempts enough.
            let retry = RetryPolicy(maximumAttempts: 1000, base: .zero)
            for number in 0... {
                journal.write("asked", getpid(), number)
                let key = UniqueKey("\(getpid())-\(number)")
                let item = try await host.submit(Steps.self, .init(number: number), unique: key, retry: retry)
                journal.write("inserted", item.id.rawValue)
                if number % 4 == 0 {
                    // The item may have ended already.
                    do { try await item.raise(to: .utility) } catch WorkloadStoreError.alreadyEnded {}
                }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        host.stop()
        try await running.value
    }
}
#endif
