/// A refused request to a store. The store does not change.
public enum WorkloadStoreError: Error, Sendable, Hashable {
    /// The dependencies would close a circle: each of these waits for the next, the last for the first (rule O10).
    case cycle([String])
    /// The store has no such item.
    case unknownItem(WorkloadItemID)
    /// No request of the insertion has this label.
    case unknownLabel(String)
    /// Two requests of the insertion have this label.
    case duplicateLabel(String)
    /// Two requests of the insertion have this unique key.
    case duplicateKey(String)
    /// The item runs or has ended, and takes no dependencies (rule O10).
    case alreadyStarted(WorkloadItemID)
    /// The item has ended.
    case alreadyEnded(WorkloadItemID, WorkloadState)
    /// Another item has the unique key by now.
    case keyTaken(String, by: WorkloadItemID)
    /// An update would make the item one of another workload.
    case otherWorkload(WorkloadItemID, WorkloadName)
    /// The lease is not valid any more: another host has the item, or the item has ended.
    case leaseLost(WorkloadLease)
    /// The schedule, or a condition of time, cannot be kept.
    case schedule(WorkloadScheduleError)
}

extension WorkloadStoreError: CustomStringConvertible {
    /// The mistake and its remedy.
    public var description: String {
        switch self {
        case .cycle(let names):
            "these items would wait for one another forever: \(names.joined(separator: " → ")) → \(names.first ?? ""); "
                + "leave out one of the dependencies"
        case .unknownItem(let item):
            "the store has no item \(item): it was never inserted, or it has ended and was removed"
        case .unknownLabel(let label):
            "no request of this insertion has the label '\(label)': insert both in one call"
        case .duplicateLabel(let label):
            "two requests of this insertion have the label '\(label)': give each its own"
        case .duplicateKey(let key):
            "two requests of this insertion have the unique key '\(key)': insert one of them"
        case .alreadyStarted(let item):
            "\(item) has started and takes no more dependencies: add them when it is inserted"
        case .alreadyEnded(let item, let state):
            "\(item) is \(state.rawValue) and cannot change any more"
        case .keyTaken(let key, let item):
            "\(item) has the unique key '\(key)' by now: cancel that one, or wait for its end"
        case .otherWorkload(let item, let name):
            "\(item) belongs to the workload '\(name)', and an update cannot change that: use another key, or replace it"
        case .leaseLost(let lease):
            "the lease \(lease.fence) of \(lease.item) is lost: another host may run the item; stop, and write nothing"
        case .schedule(let error):
            error.description
        }
    }
}
