public import QoSCore

/// Everything that a store needs to know to insert an item.
public struct WorkloadRequest: Sendable, Hashable, Codable {
    /// A dependency of a new item.
    public enum Dependency: Sendable, Hashable, Codable {
        /// An item of the store.
        case item(WorkloadItemID)
        /// The request with this label in the same insertion.
        case label(String)
    }

    /// The name of the workload.
    public var name: WorkloadName
    /// The encoded parameters.
    public var parameters: [UInt8]
    /// The requested level.
    public var level: QoSLevel
    /// The times of its runs.
    public var schedule: WorkloadSchedule
    /// The answer to runs that fell into a downtime.
    public var catchUp: CatchUpPolicy
    /// The answer to failed attempts.
    public var retry: RetryPolicy
    /// The items that must end first (rule O5). A repeating item waits for them once.
    public var dependencies: [Dependency]
    /// The behavior after a dependency that died or was cancelled.
    public var onFailedParent: FailedParentPolicy
    /// The conditions that must hold. All of them.
    public var conditions: Set<WorkloadCondition>
    /// The unique key.
    public var unique: UniqueKey?
    /// The limit for items with the same key.
    public var concurrency: ConcurrencyKey?
    /// A name for other requests of the same insertion, and for messages.
    public var label: String?
    /// The version of the parameters, from 1; see ``Workload/version``. Hosts with a lower one leave the item alone.
    public var version: Int {
        get { laterVersion ?? 1 }
        set { laterVersion = newValue > 1 ? newValue : nil }
    }

    /// `nil` for the first version, which is what requests without a version have.
    private var laterVersion: Int?

    /// Makes a request.
    public init(
        _ name: WorkloadName, parameters: [UInt8] = [], level: QoSLevel = .background,
        schedule: WorkloadSchedule = .now, catchUp: CatchUpPolicy = .runOnce, retry: RetryPolicy = RetryPolicy(),
        dependencies: [Dependency] = [], onFailedParent: FailedParentPolicy = .cancel,
        conditions: Set<WorkloadCondition> = [], unique: UniqueKey? = nil, concurrency: ConcurrencyKey? = nil,
        label: String? = nil, version: Int = 1
    ) {
        self.name = name
        self.parameters = parameters
        self.level = level
        self.schedule = schedule
        self.catchUp = catchUp
        self.retry = retry
        self.dependencies = dependencies
        self.onFailedParent = onFailedParent
        self.conditions = conditions
        self.unique = unique
        self.concurrency = concurrency
        self.label = label
        laterVersion = version > 1 ? version : nil
    }
}

/// The answer to one request of an insertion.
public enum WorkloadInsertion: Sendable, Hashable {
    /// A new item.
    case inserted(WorkloadItemID)
    /// The unfinished item that has the same unique key.
    case existing(WorkloadItemID)

    /// The item, new or not.
    public var item: WorkloadItemID {
        switch self {
        case .inserted(let item), .existing(let item): item
        }
    }
}
