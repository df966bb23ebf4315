public import QoSCore

/// A host's question for its next item.
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
    /// The classes that have a free place.
    public var classes: Set<QoSClass>
    /// The judgement of a condition on the host's machine. The store may call it once for each condition.
    public var verdict: @Sendable (WorkloadCondition) -> ConditionVerdict

    /// Makes a question.
    public init(
        host: String, process: String? = nil, workloads: Set<WorkloadName>,
        classes: Set<QoSClass> = Set(QoSClass.allCases),
        verdict: @escaping @Sendable (WorkloadCondition) -> ConditionVerdict = { $0.verdict(in: SystemConditions()) }
    ) {
        self.host = host
        self.process = process
        self.workloads = workloads
        self.classes = classes
        self.verdict = verdict
    }

    /// Whether the host can run an item with parameters of a version.
    package func covers(_ name: WorkloadName, version: Int) -> Bool {
        workloads.contains(name) && version <= versions[name] ?? 1
    }
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
