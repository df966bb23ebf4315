#if Observability
public import Logging
public import QoSWorkloads

/// Writes a host's events to a log.
///
/// ```swift
/// var configuration = WorkloadHost.Configuration()
/// configuration.addObserver(WorkloadLog(logger))
/// ```
///
/// | event | level |
/// |---|---|
/// | an attempt began, pauses, or goes on; a raise | debug |
/// | an attempt ended well or deferred; a promotion | info |
/// | an attempt failed, lost its lease, or starts from the beginning | warning |
/// | an item died, an attempt does not end, or the store failed | error |
///
/// The metadata has the keys `workload`, `item`, `fence`, and those that fit the event: `attempt`, `qos`, `state`,
/// `reason`, `ms`.
public struct WorkloadLog: WorkloadObserver {
    private let logger: Logger

    /// Makes a log.
    public init(_ logger: Logger) {
        self.logger = logger
    }

    /// Writes an event.
    public func observe(_ event: WorkloadHostEvent) {
        logger.log(level: Self.level(of: event), "\(Self.title(of: event))", metadata: Self.metadata(of: event))
    }

    private static func level(of event: WorkloadHostEvent) -> Logger.Level {
        switch event {
        case .attemptBegan, .attemptPaused, .attemptResumed, .itemRaised: .debug
        case .attemptEnded(_, _, _, .dead, _), .attemptAbandoned, .attemptHangs, .storeFailed: .error
        case .attemptEnded(_, _, .failed, _, _), .leaseLost, .leaseReclaimed, .checkpointUnreadable,
            .folderNotWatched, .parametersUnreadable, .hintsLate:
            .warning
        case .attemptEnded, .attemptPromoted: .info
        }
    }

    private static func title(of event: WorkloadHostEvent) -> String {
        switch event {
        case .attemptBegan: "attempt began"
        case .attemptEnded(_, _, .finished, _, _): "attempt finished"
        case .attemptEnded(_, _, .deferred, _, _): "attempt deferred"
        case .attemptEnded(_, _, .failed, _, _): "attempt failed"
        case .attemptPaused: "attempt paused"
        case .attemptResumed: "attempt resumed"
        case .attemptPromoted: "attempt promoted"
        case .itemRaised: "item raised"
        case .leaseLost: "lease lost"
        case .leaseReclaimed: "lease reclaimed"
        case .checkpointUnreadable: "checkpoint unreadable"
        case .attemptAbandoned: "attempt abandoned"
        case .attemptHangs: "attempt hangs"
        case .parametersUnreadable: "parameters unreadable"
        case .folderNotWatched: "folder not watched"
        case .hintsLate: "hints of the store come late"
        case .storeFailed: "store failed"
        }
    }

    private static func metadata(of event: WorkloadHostEvent) -> Logger.Metadata {
        switch event {
        case .attemptBegan(let lease, let name, let level, let attempt):
            metadata(lease, name, ["attempt": "\(attempt)", "qos": "\(level)"])
        case .attemptEnded(let lease, let name, let result, let state, let time):
            metadata(lease, name, ["state": "\(state.rawValue)", "ms": "\(milliseconds(time))"])
                .merging(reason(of: result)) { $1 }
        case .attemptPaused(let lease, let name, let reason): metadata(lease, name, ["reason": "\(reason)"])
        case .attemptResumed(let lease, let name, let time): metadata(lease, name, ["ms": "\(milliseconds(time))"])
        case .attemptPromoted(let lease, let name, let level): metadata(lease, name, ["qos": "\(level)"])
        case .itemRaised(let item, let level): ["item": "\(item.rawValue)", "qos": "\(level)"]
        case .leaseLost(let lease, let name), .attemptAbandoned(let lease, let name): metadata(lease, name, [:])
        case .attemptHangs(let lease, let name, let time): metadata(lease, name, ["ms": "\(milliseconds(time))"])
        case .parametersUnreadable(let lease, let name, let reason): metadata(lease, name, ["reason": "\(reason)"])
        case .leaseReclaimed(let sighting):
            ["item": "\(sighting.lease.item.rawValue)", "fence": "\(sighting.lease.fence)", "host": "\(sighting.host)"]
        case .checkpointUnreadable(let lease, let name, let reason): metadata(lease, name, ["reason": "\(reason)"])
        case .folderNotWatched(let folder, let reason, _): ["folder": "\(folder)", "reason": "\(reason)"]
        case .hintsLate(let reason, _): ["reason": "\(reason)"]
        case .storeFailed(let error): ["reason": "\(error)"]
        }
    }

    private static func metadata(
        _ lease: WorkloadLease, _ name: WorkloadName, _ more: Logger.Metadata
    ) -> Logger.Metadata {
        ["workload": "\(name)", "item": "\(lease.item.rawValue)", "fence": "\(lease.fence)"].merging(more) { $1 }
    }

    private static func reason(of result: AttemptResult) -> Logger.Metadata {
        switch result {
        case .finished: [:]
        case .deferred(let reason, _): ["reason": "\(reason)"]
        case .failed(let error, _): ["reason": "\(error)"]
        }
    }

    private static func milliseconds(_ time: Duration) -> Int64 { Int64(time / .milliseconds(1)) }
}

extension WorkloadContext {
    /// The metadata for log lines of the attempt: `workload`, `item`, `fence`, `attempt`, `qos`.
    public var logMetadata: Logger.Metadata {
        [
            "workload": "\(name)", "item": "\(item.rawValue)", "fence": "\(lease.fence)", "attempt": "\(attemptNumber)",
            "qos": "\(level)",
        ]
    }
}
#endif
