/// A state in which a task of background stands in a queue when it is awaited or raised.
public enum QueuedState: String, Sendable, Hashable, CaseIterable {
    /// The task has not begun.
    case notBegun = "not-begun"
    /// The task has yielded.
    case yielded
    /// The task's sleep has ended.
    case slept
    /// The task's continuation was resumed.
    case continuation
    /// An element has arrived in the stream that the task reads.
    case stream
    /// The task waits for a child of its group, and the child has not begun.
    case groupChild = "group-child"
    /// The task waits for an `async let` that has not begun.
    case asyncLet = "async-let"
    /// The task has yielded inside of a default actor.
    case inDefaultActor = "in-default-actor"
    /// The task has yielded inside of an actor on our serial executor.
    case inSerialActor = "in-serial-executor"
    /// The task has called a default actor, and its call stands behind unrelated work of the actor.
    case callsDefaultActor = "call-default-actor"
    /// The task has called an actor on our serial executor, and its call stands behind unrelated work of the actor.
    case callsSerialActor = "call-serial-executor"

    /// The place in ``allCases``, as cases of benchmarks have numbers for parameters.
    public var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// Makes the state of that place; `nil` when there is none.
    public init?(number: Int) {
        guard Self.allCases.indices.contains(number) else { return nil }
        self = Self.allCases[number]
    }

    /// Whether there is an executor of ours in it: the default executor has no such state.
    public var isOurs: Bool { self == .inSerialActor || self == .callsSerialActor }
}
