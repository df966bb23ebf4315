/// What a graph knows about one operation.
struct OperationRecord: Sendable {
    /// Where an operation stands.
    enum State: UInt8, Sendable {
        /// The record is not in use.
        case free
        /// In no queue yet.
        case created
        /// In a queue, behind operations that it depends on.
        case waiting
        /// Its conditions are being asked.
        case evaluating
        /// Ready, behind a barrier.
        case held
        /// Ready.
        case ready
        /// Started.
        case running
        /// Ended, and not forgotten yet.
        case finished
    }

    static let noQueue = UInt32.max

    var state = State.created
    /// The effective level.
    var level = LevelIndex.none
    /// By how far it goes behind others of its effective level: the relative priority that it was given, or that of what waits for it
    /// alone. A raise together with others does not change it.
    var lowering = LevelIndex.none.lowering
    var origin = OperationOrigin()
    /// Whether the level was assigned, or taken from the operation in whose execution it was created.
    var isResolved = false
    var policy = FailedDependencyPolicy.cancel
    var isBarrier = false
    var hasConditions = false
    /// Whether a parent failed while it was in no queue: it ends when it is added.
    var isDoomed = false

    var queue = Self.noQueue
    /// The number in the order of adding; 0 before.
    var sequence: UInt64 = 0
    /// Which of the queue's segments, as barriers divide it, it belongs to.
    var segment: UInt32 = 0
    /// The queue's promotion that it holds up; 0 for none.
    var promotionEpoch: UInt32 = 0

    var unfinishedParents: UInt32 = 0
    var firstParent = DependencyEdges.none
    var firstDependent = DependencyEdges.none
    /// The search for a cycle that was here last.
    var searchMark: UInt32 = 0

    /// Its place among those that are ready at its level: by relative priority, then in the order of adding.
    var turn: UInt64 { UInt64(lowering) << 56 | sequence }
}
