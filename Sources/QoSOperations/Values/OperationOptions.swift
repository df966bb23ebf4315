public import QoSCore

/// The options of an operation.
public struct OperationOptions: Sendable {
    /// The name for errors, logs and lists.
    public var name: String?
    /// The level; `nil` to infer it (rule O1).
    public var level: QoSLevel?
    /// The kind of the operation's work. It gives the level if ``level`` is `nil` (rule O12).
    public var kind: OperationKind
    /// The policy for a failed or cancelled dependency (rule O11).
    public var onFailedDependency: FailedDependencyPolicy
    /// Whether the operation runs alone in its queue: after everything added before it, before everything added after
    /// it.
    public var isBarrier: Bool
    /// Whether the operation waits while the governor forbids discretionary work; `nil` leaves it to ``kind`` (rule
    /// O12).
    public var isDiscretionary: Bool?
    /// The conditions for the operation to be ready, beside its dependencies.
    public var conditions: [OperationCondition]

    /// Makes options.
    public init(
        name: String? = nil, level: QoSLevel? = nil, kind: OperationKind = .plain,
        onFailedDependency: FailedDependencyPolicy = .cancel, isBarrier: Bool = false,
        isDiscretionary: Bool? = nil, conditions: [OperationCondition] = []
    ) {
        self.name = name
        self.level = level
        self.kind = kind
        self.onFailedDependency = onFailedDependency
        self.isBarrier = isBarrier
        self.isDiscretionary = isDiscretionary
        self.conditions = conditions
    }
}
