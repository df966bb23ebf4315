/// Why one operation cannot go on before another has ended.
public enum OperationWaitReason: UInt8, Sendable, Hashable, CaseIterable {
    /// It depends on it.
    case dependency
    /// Its body, or one of its conditions, waits for it, or for a queue that it is in.
    case wait
    /// A barrier stands between them in their queue, or one of them is a barrier, and the other one comes first.
    case barrier
    /// Their queue runs one operation at a time, and the other one runs.
    case limit
}
