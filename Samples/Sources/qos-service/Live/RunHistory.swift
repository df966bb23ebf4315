internal import QoSCore
internal import QoSWorkloads
internal import Synchronization

/// The attempts of the last minutes: when each workload ran, paused included.
final class RunHistory: WorkloadObserver {
    /// The number of ended attempts that are kept.
    private static let limit = 200

    /// One attempt.
    struct Run: Sendable, Equatable {
        let item: WorkloadItemID
        let fence: UInt64
        let name: WorkloadName
        var qosClass: QoSClass
        let begin: ContinuousClock.Instant
        /// Nil while it goes on.
        var end: ContinuousClock.Instant?
    }

    private struct State {
        var going: [WorkloadLease: Run] = [:]
        var ended: [Run] = []
        var version = 0
    }

    private let state = Mutex(State())

    /// A number that changes with each event.
    var version: Int { state.withLock { $0.version } }

    func observe(_ event: WorkloadHostEvent) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.version += 1
            switch event {
            case .attemptBegan(let lease, let name, let level, _):
                state.going[lease] = Run(
                    item: lease.item, fence: lease.fence, name: name, qosClass: level.qosClass, begin: now)
            case .attemptPromoted(let lease, _, let level):
                state.going[lease]?.qosClass = level.qosClass
            case .attemptEnded(let lease, _, _, _, _), .leaseLost(let lease, _), .attemptAbandoned(let lease, _):
                guard var run = state.going.removeValue(forKey: lease) else { return }
                run.end = now
                state.ended.append(run)
                if state.ended.count > Self.limit { state.ended.removeFirst() }
            case .attemptPaused, .attemptResumed, .attemptHangs, .itemRaised, .leaseReclaimed, .checkpointUnreadable,
                .parametersUnreadable, .folderNotWatched, .hintsLate, .storeFailed:
                break
            }
        }
    }

    /// Notes a change that no event tells of, for example a pause of a waiting workload.
    func touch() {
        state.withLock { $0.version += 1 }
    }

    /// The attempts that ended after a time or go on, in the order of their begin.
    func runs(since time: ContinuousClock.Instant) -> [Run] {
        state.withLock { state in
            let ended = state.ended.filter { ($0.end ?? time) > time }
            return (ended + state.going.values).sorted { $0.begin < $1.begin }
        }
    }
}
