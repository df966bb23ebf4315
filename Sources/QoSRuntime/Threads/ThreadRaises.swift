import QoSKernel
import Synchronization

/// What the kernel let the runtime do for threads that are no workers and that higher work waited for (rules B7, I1, I2).
public struct ThreadRaises: Sendable, Hashable, Codable {
    /// How often such a thread was given the scheduling of a higher class; each time it got its own back when nothing demanded the raise
    /// any more.
    public let raised: UInt64

    /// How often the kernel did not allow it: the thread's level was raised, so what it submits, and not its scheduling.
    public let refused: UInt64

    /// How often a thread could not be given its own scheduling back, and stayed raised.
    public let notTakenBack: UInt64

    /// How much the process's privileges allow: `privileged` and `reversible` raise running threads, `oneWay` and `denied` do not.
    public let effectMode: String
}

extension QoSThread where Success == Never {
    /// How threads that are no workers were raised so far, in the whole process. Any thread.
    public static var raises: ThreadRaises {
        ThreadRaises(
            raised: ThreadRaiseCounts.raised.load(ordering: .relaxed),
            refused: ThreadRaiseCounts.refused.load(ordering: .relaxed),
            notTakenBack: ThreadRaiseCounts.notTakenBack.load(ordering: .relaxed),
            effectMode: LockKernel.profile.capabilities.mode.rawValue)
    }
}
