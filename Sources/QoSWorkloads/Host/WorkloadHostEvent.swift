public import QoSCore

/// An event of a host, for logs and metrics.
public enum WorkloadHostEvent: Sendable, Hashable {
    /// An attempt began, at this level.
    case attemptBegan(WorkloadLease, WorkloadName, QoSLevel, attempt: Int)
    /// An attempt ended with this result after this time, and the item has this state.
    case attemptEnded(WorkloadLease, WorkloadName, AttemptResult, WorkloadState, after: Duration)
    /// A condition of a running item does not hold, or a stop was requested. The attempt is asked to pause.
    case attemptPaused(WorkloadLease, WorkloadName, because: String)
    /// All conditions of a running item hold again after this time.
    case attemptResumed(WorkloadLease, WorkloadName, after: Duration)
    /// A running item was promoted to this level (rule O8).
    case attemptPromoted(WorkloadLease, WorkloadName, to: QoSLevel)
    /// A caller raised an item, and with it those that it depends on (rules O5, O6, O9).
    case itemRaised(WorkloadItemID, to: QoSLevel)
    /// An attempt lost its lease. Another host may run the item.
    case leaseLost(WorkloadLease, WorkloadName)
    /// The lease of a host that stopped renewing was taken back.
    case leaseReclaimed(LeaseSighting)
    /// A checkpoint does not decode. The attempt starts from the beginning.
    case checkpointUnreadable(WorkloadLease, WorkloadName, String)
    /// The parameters of an item do not decode here. The item waits, and its attempt does not count.
    case parametersUnreadable(WorkloadLease, WorkloadName, String)
    /// An attempt holds its place, and has shown no sign of life for this time.
    case attemptHangs(WorkloadLease, WorkloadName, after: Duration)
    /// An attempt did not end after its cancellation. The host gives its lease back, and keeps its place taken.
    case attemptAbandoned(WorkloadLease, WorkloadName)
    /// A folder of an item on file events cannot be watched. The host looks at its paths from time to time instead.
    case folderNotWatched(String, because: String, lookingEvery: Duration)
    /// Changes of other processes give late hints. The store looks for them from time to time instead.
    case hintsLate(because: String, lookingEvery: Duration)
    /// A call of the store failed. The host tries again.
    case storeFailed(String)
}

extension WorkloadHostEvent: CustomStringConvertible {
    /// The event in words.
    public var description: String {
        switch self {
        case .attemptBegan(let lease, let name, let level, let attempt):
            "\(name) \(lease.item) began attempt \(attempt) at \(level)"
        case .attemptEnded(let lease, let name, let result, let state, let time):
            "\(name) \(lease.item) \(result) after \(time), and is \(state.rawValue)"
        case .attemptPaused(let lease, let name, let reason): "\(name) \(lease.item) pauses: \(reason)"
        case .attemptResumed(let lease, let name, let time): "\(name) \(lease.item) goes on after \(time)"
        case .attemptPromoted(let lease, let name, let level): "\(name) \(lease.item) was promoted to \(level)"
        case .itemRaised(let item, let level): "\(item) was raised to \(level)"
        case .leaseLost(let lease, let name): "\(name) \(lease.item) lost its lease \(lease.fence)"
        case .leaseReclaimed(let sighting):
            "the lease \(sighting.lease.fence) of \(sighting.lease.item) was taken back from \(sighting.host)"
        case .checkpointUnreadable(let lease, let name, let reason): "\(name) \(lease.item) starts again: \(reason)"
        case .parametersUnreadable(let lease, let name, let reason):
            "\(name) \(lease.item) waits for a host that can read its parameters: \(reason)"
        case .attemptHangs(let lease, let name, let time):
            "\(name) \(lease.item) has shown no sign of life for \(time), and holds its place"
        case .attemptAbandoned(let lease, let name): "\(name) \(lease.item) does not end; its lease was given back"
        case .folderNotWatched(let folder, let reason, let interval):
            "the folder \(folder) cannot be watched, and is looked at every \(interval): \(reason)"
        case .hintsLate(let reason, let interval):
            "the store does not hear of changes by other processes, and looks for them every \(interval): \(reason)"
        case .storeFailed(let error): "the store failed: \(error)"
        }
    }
}
