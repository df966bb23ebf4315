public import QoSCore

/// A host's question for its next items.
public struct ClaimRequest: Sendable {
    /// The name of the host.
    public var host: String
    /// The exact process of the host, as text without meaning for the store; `nil` if other processes cannot ask
    /// whether it has ended.
    public var process: String?
    /// The workloads that it can run.
    public var workloads: Set<WorkloadName>
    /// The newest version of the parameters that the host reads, by workload; the first one without an entry.
    public var versions: [WorkloadName: Int] = [:]
    /// The number of free places of each class. A class without an entry has none.
    public var places: [QoSClass: Int]
    /// The largest number of items in the answer, over all classes.
    public var limit: Int
    /// The judgement of a condition on the host's machine. The store may call it once for each condition.
    public var verdict: @Sendable (WorkloadCondition) -> ConditionVerdict

    /// Makes a question for at most one item.
    public init(
        host: String, process: String? = nil, workloads: Set<WorkloadName>,
        classes: Set<QoSClass> = Set(QoSClass.allCases),
        verdict: @escaping @Sendable (WorkloadCondition) -> ConditionVerdict = { $0.verdict(in: SystemConditions()) }
    ) {
        self.init(
            host: host, process: process, workloads: workloads,
            atMost: Dictionary(uniqueKeysWithValues: classes.map { ($0, 1) }), limit: 1, verdict: verdict)
    }

    /// Makes a question for as many items as the host has places.
    public init(
        host: String, process: String? = nil, workloads: Set<WorkloadName>, atMost places: [QoSClass: Int],
        limit: Int = .max,
        verdict: @escaping @Sendable (WorkloadCondition) -> ConditionVerdict = { $0.verdict(in: SystemConditions()) }
    ) {
        self.host = host
        self.process = process
        self.workloads = workloads
        self.places = places
        self.limit = limit
        self.verdict = verdict
    }

    /// Whether the host can run an item with parameters of a version.
    package func covers(_ name: WorkloadName, version: Int) -> Bool {
        workloads.contains(name) && version <= versions[name] ?? 1
    }
    /// The classes that have a free place.
    public var classes: Set<QoSClass> { Set(places.lazy.filter { $0.value > 0 }.map(\.key)) }
}

/// An item that a host has claimed.
public struct WorkloadClaim: Sendable, Hashable {
    /// The lease.
    public let lease: WorkloadLease
    /// The item.
    public let record: WorkloadRecord

    /// Makes a claim.
    public init(lease: WorkloadLease, record: WorkloadRecord) {
        self.lease = lease
        self.record = record
    }
}
