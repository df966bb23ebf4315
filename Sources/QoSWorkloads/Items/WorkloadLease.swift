public import QoSCore

/// A host's right to run an item: the key to all writes of an attempt.
public struct WorkloadLease: Sendable, Hashable, Codable {
    /// The item.
    public let item: WorkloadItemID
    /// The number of the lease. A later lease of the same item has a higher one. Give it to outputs that can refuse a
    /// lower one.
    public let fence: UInt64

    /// Makes a lease.
    public init(item: WorkloadItemID, fence: UInt64) {
        self.item = item
        self.fence = fence
    }
}

/// A lease as any host sees it.
public struct LeaseSighting: Sendable, Hashable {
    /// The lease.
    public let lease: WorkloadLease
    /// The number of renewals.
    public let beat: UInt64
    /// The name of its holder.
    public let host: String
    /// The process of its holder, as the claim named it; `nil` if it named none.
    public let process: String?

    /// Makes a sighting.
    public init(lease: WorkloadLease, beat: UInt64, host: String, process: String? = nil) {
        self.lease = lease
        self.beat = beat
        self.host = host
        self.process = process
    }
}

/// The reason for which a host loses its lease.
public enum LeaseLoss: String, Sendable, Hashable, CaseIterable {
    /// The host did not renew the lease for a lease duration.
    case expired
    /// The process of the host has ended.
    case processEnded
}

/// The answer to a renewal.
public enum LeaseStanding: Sendable, Hashable {
    /// The lease is valid, under these terms.
    case held(LeaseTerms)
    /// Another host has the item, or the item has ended.
    case lost
}

/// The requests of a store to the holder of a lease.
public struct LeaseTerms: Sendable, Hashable {
    /// The effective level of the item.
    public var level: QoSLevel
    /// The reason to end the item for good; `nil` to continue.
    public var cancellation: String?
    /// The reason to stop and continue later, for example a paused workload; `nil` to continue.
    public var deferral: String?

    /// Makes terms.
    public init(level: QoSLevel, cancellation: String? = nil, deferral: String? = nil) {
        self.level = level
        self.cancellation = cancellation
        self.deferral = deferral
    }
}
