import QoSKernel
import Synchronization

/// The kernel's answers to raises of awaited threads that are no workers (rules B7, I1, I2).
public struct ThreadRaises: Sendable, Hashable, Codable {
    /// The number of times that such a thread was given the scheduling of a higher class. Each time it got its own back
    /// when the raise was no longer demanded.
    public let raised: UInt64

    /// The number of times that the kernel refused. The thread's level was then raised, and with it its submissions,
    /// but not its scheduling.
    public let refused: UInt64

    /// The number of times that a thread could not be given its own scheduling back, and stayed raised.
    public let notTakenBack: UInt64

    /// The raises that the process's privileges allow: `privileged` and `reversible` raise running threads, `oneWay`
    /// and `denied` do not.
    public let effectMode: String
}

extension QoSThread where Success == Never {
    /// The raises of threads that are no workers so far, in the whole process. Any thread.
    public static var raises: ThreadRaises {
        ThreadRaises(
            raised: ThreadRaiseCounts.raised.load(ordering: .relaxed),
            refused: ThreadRaiseCounts.refused.load(ordering: .relaxed),
            notTakenBack: ThreadRaiseCounts.notTakenBack.load(ordering: .relaxed),
            effectMode: LockKernel.profile.capabilities.mode.rawValue)
    }
}
