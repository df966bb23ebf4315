/// Why one operation cannot go on before another has ended.
public enum OperationWaitReason: UInt8, Sendable, Hashable, CaseIterable {
    /// It depends on it.
    case dependency
    /// Its body, or one of its conditions, waits for it, or for a queue that it is in.
    case wait
    /// A barrier stands between them in their queue, or one of them is a barrier, and the other one comes first.
    case barrier
    /// All places in its queue are taken by operations that wait, and the other one is one of them.
    case limit
}
