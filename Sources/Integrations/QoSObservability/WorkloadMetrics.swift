#if Observability
public import CoreMetrics
internal import QoSCore
public import QoSWorkloads
internal import Synchronization

/// Counts a host's events, and shows the items of its store, in swift-metrics.
///
/// ```swift
/// let metrics = WorkloadMetrics()
/// configuration.addObserver(metrics)
/// // …
/// try await metrics.record(host, every: .seconds(10))    // until it is cancelled
/// ```
///
/// | name | kind | labels | meaning |
/// |---|---|---|---|
/// | `qos.workloads.attempts` | counter | `workload`, `result` | attempts that ended: `finished`, `deferred`, `failed` |
/// | `qos.workloads.attempt` | timer | `workload` | their durations |
/// | `qos.workloads.dead` | counter | `workload` | items that used up their attempts |
/// | `qos.workloads.pause` | timer | `workload` | pauses of running attempts that went on |
/// | `qos.workloads.promotions` | counter | `class` | running items that were promoted to the class |
/// | `qos.workloads.raises` | counter | `class` | requests to raise an item |
/// | `qos.workloads.leases.lost` | counter | `workload` | attempts that lost their lease |
/// | `qos.workloads.leases.reclaimed` | counter | | leases that were taken back |
/// | `qos.workloads.hangs` | counter | `workload` | reports of attempts that hold a place without a sign of life |
/// | `qos.workloads.store.failures` | counter | | failed calls of the store |
/// | `qos.workloads.items` | gauge | `class`, `state` | items in a state |
/// | `qos.workloads.oldest.wait.ms` | gauge | `class` | the longest wait of a ready or deferred item, in milliseconds |
/// | `qos.workloads.deferral.ms` | counter | `reason` | the time for which items were deferred, all together, in milliseconds |
///
/// The last three come from snapshots. A reason is the label of a condition, `paused`, or `limit`.
public final class WorkloadMetrics: WorkloadObserver {
    /// The longest time between two snapshots that counts. A program that stood still was not deferred.
    private static let longestGap = Duration.seconds(600)

    private let factory: any MetricsFactory
    /// The time of the last snapshot.
    private let last = Mutex<Duration?>(nil)

    /// Makes metrics.
    ///
    /// - Parameter factory: the receiver; by default that of the process.
    public init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
    }

    /// Counts an event.
    public func observe(_ event: WorkloadHostEvent) {
        switch event {
        case .attemptEnded(_, let name, let result, let state, let time):
            count("attempts", [("workload", "\(name)"), ("result", Self.word(for: result))])
            timer("attempt", [("workload", "\(name)")]).recordNanoseconds(time.schedulerNanoseconds)
            if state == .dead { count("dead", [("workload", "\(name)")]) }
        case .attemptResumed(_, let name, let time):
            timer("pause", [("workload", "\(name)")]).recordNanoseconds(time.schedulerNanoseconds)
        case .attemptPromoted(_, _, let level): count("promotions", [("class", "\(level.qosClass)")])
        case .itemRaised(_, let level): count("raises", [("class", "\(level.qosClass)")])
        case .leaseLost(_, let name): count("leases.lost", [("workload", "\(name)")])
        case .leaseReclaimed: count("leases.reclaimed", [])
        case .attemptHangs(_, let name, _): count("hangs", [("workload", "\(name)")])
        case .folderNotWatched: count("folders.unwatched", [])
        case .hintsLate: count("hints.late", [])
        case .storeFailed: count("store.failures", [])
        case .attemptBegan, .attemptPaused, .checkpointUnreadable, .parametersUnreadable, .attemptAbandoned:
            break
        }
    }

    /// Sets the gauges to a snapshot, and counts the time since the last one for the deferred items.
    public func record(_ snapshot: WorkloadSnapshot) {
        for (qosClass, lane) in snapshot.lanes {
            let states = [
                ("running", lane.running), ("ready", lane.ready), ("deferred", lane.deferred),
                ("blocked", lane.blocked), ("scheduled", lane.scheduled),
            ]
            for (state, count) in states {
                gauge("items", [("class", "\(qosClass)"), ("state", state)]).record(Double(count))
            }
            let wait = (lane.oldestWait ?? .zero) / .milliseconds(1)
            gauge("oldest.wait.ms", [("class", "\(qosClass)")]).record(wait.rounded())
        }
        let since = last.withLock { last in
            defer { last = snapshot.elapsed }
            return last
        }
        guard let since, since < snapshot.elapsed else { return }
        let milliseconds = Int64(min(snapshot.elapsed - since, Self.longestGap) / .milliseconds(1))
        for reason in snapshot.items.flatMap(\.obstacles) {
            counter("deferral.ms", [("reason", reason)]).increment(by: milliseconds)
        }
    }

    /// Records snapshots of a host until the task is cancelled.
    ///
    /// - Parameters:
    ///   - host: the host.
    ///   - interval: the time between two snapshots. Each one reads up to 1000 unfinished items.
    /// - Throws: `CancellationError`. A store that fails leaves the gauges as they are.
    public func record(_ host: WorkloadHost, every interval: Duration) async throws {
        while true {
            if let snapshot = try? await host.snapshot() { record(snapshot) }
            try await Task.sleep(for: interval, tolerance: interval / 10)
        }
    }

    private static func word(for result: AttemptResult) -> String {
        switch result {
        case .finished: "finished"
        case .deferred: "deferred"
        case .failed: "failed"
        }
    }

    private func count(_ name: String, _ dimensions: [(String, String)]) {
        counter(name, dimensions).increment(by: 1)
    }

    private func counter(_ name: String, _ dimensions: [(String, String)]) -> any CounterHandler {
        factory.makeCounter(label: "qos.workloads.\(name)", dimensions: dimensions)
    }

    private func timer(_ name: String, _ dimensions: [(String, String)]) -> any TimerHandler {
        factory.makeTimer(label: "qos.workloads.\(name)", dimensions: dimensions)
    }

    private func gauge(_ name: String, _ dimensions: [(String, String)]) -> any RecorderHandler {
        factory.makeRecorder(label: "qos.workloads.\(name)", dimensions: dimensions, aggregate: false)
    }
}
#endif
