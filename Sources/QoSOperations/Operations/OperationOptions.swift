public import QoSCore

/// How an operation is set up.
public struct OperationOptions: Sendable {
    /// The name for errors, logs and lists.
    public var name: String?
    /// The level; `nil` to infer it (rule O1).
    public var level: QoSLevel?
    /// What the operation works with, which gives it a level when ``level`` is `nil` (rule O12).
    public var kind: OperationKind
    /// What happens when an operation that it depends on fails or is cancelled (rule O11).
    public var onFailedDependency: FailedDependencyPolicy
    /// Whether it runs alone in its queue: after everything that was added before it, before everything added after it.
    public var isBarrier: Bool
    /// What has to be met, beside its dependencies, before it is ready.
    public var conditions: [OperationCondition]

    /// Makes options.
    public init(
        name: String? = nil, level: QoSLevel? = nil, kind: OperationKind = .plain,
        onFailedDependency: FailedDependencyPolicy = .cancel, isBarrier: Bool = false,
        conditions: [OperationCondition] = []
    ) {
        self.name = name
        self.level = level
        self.kind = kind
        self.onFailedDependency = onFailedDependency
        self.isBarrier = isBarrier
        self.conditions = conditions
    }
}
