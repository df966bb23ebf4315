/// An event of a host, for logs and metrics. The text of an event says what happened.
public enum WorkloadHostEvent: Sendable, Hashable {
    /// An attempt began.
    case attemptBegan(WorkloadLease, WorkloadName, attempt: Int)
    /// An attempt ended, and the item has this state.
    case attemptEnded(WorkloadLease, WorkloadName, WorkloadState)
    /// An attempt lost its lease. Another host may run the item.
    case leaseLost(WorkloadLease, WorkloadName)
    /// The lease of a host that stopped renewing was taken back.
    case leaseReclaimed(LeaseSighting)
    /// A checkpoint does not decode. The attempt starts from the beginning.
    case checkpointUnreadable(WorkloadLease, WorkloadName, String)
    /// An attempt did not end after its cancellation. The host gives its lease back, and keeps its place taken.
    case attemptAbandoned(WorkloadLease, WorkloadName)
    /// A call of the store failed. The host tries again.
    case storeFailed(String)
}
