/// The state of an item.
public enum WorkloadState: String, Sendable, Hashable, Codable, CaseIterable {
    /// The item waits for its time, for the end of a retry's delay, or for a file event.
    case scheduled
    /// The item waits for other items.
    case blocked
    /// The item waits for its conditions, for a place of its key, or until its workload is resumed.
    case deferred
    /// The item waits for a host.
    case ready
    /// A host runs the item under a lease.
    case running
    /// All runs have ended well.
    case finished
    /// The item was cancelled.
    case cancelled
    /// The attempts are used up.
    case dead

    /// Whether the item has ended.
    public var isEnded: Bool { self == .finished || self == .cancelled || self == .dead }

    /// Whether the item waits, for whatever reason.
    public var isWaiting: Bool { !isEnded && self != .running }
}
