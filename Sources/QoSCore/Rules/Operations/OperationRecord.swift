/// A graph's data of one operation.
struct OperationRecord: Sendable {
    /// The state of an operation.
    enum State: UInt8, Sendable {
        /// The record is not in use.
        case free
        /// In no queue yet.
        case created
        /// In a queue, with unfinished dependencies.
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
    /// The distance behind others of the same effective level: the operation's relative priority, or that of a single
    /// waiter. A raise together with others does not change it.
    var lowering = LevelIndex.none.lowering
    var origin = OperationOrigin()
    /// Whether the level was assigned, or taken from the creating operation.
    var isResolved = false
    var policy = FailedDependencyPolicy.cancel
    var isBarrier = false
    var hasConditions = false
    /// Whether a parent failed while the operation was in no queue. The operation then ends when it is added.
    var isDoomed = false

    var queue = Self.noQueue
    /// The number in the order of adding; 0 before.
    var sequence: UInt64 = 0
    /// The number of its segment in the queue.
    var segment: UInt64 = 0
    /// The number of the queue's promotion that it keeps up; 0 for none.
    var promotionEpoch: UInt32 = 0

    var unfinishedParents: UInt32 = 0
    var firstParent = DependencyEdges.none
    var firstDependent = DependencyEdges.none
    /// The last search for a cycle that visited it.
    var searchMark: UInt32 = 0

    /// The place among the ready operations of its level: by relative priority, then in the order of adding.
    var turn: UInt64 { UInt64(lowering) << 56 | sequence }
}
