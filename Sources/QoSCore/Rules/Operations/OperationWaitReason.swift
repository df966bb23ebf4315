/// The reason why one operation cannot go on before another has ended.
public enum OperationWaitReason: Sendable, Hashable, CaseIterable {
    /// It depends on the other one.
    case dependency
    /// Its body, or one of its conditions, waits for the other one, or for the other one's queue.
    case wait
    /// A barrier is between them in their queue, or one of them is a barrier, and the other one comes first.
    case barrier
    /// Waiting operations take all places in its queue, and the other one is one of them.
    case limit
}
