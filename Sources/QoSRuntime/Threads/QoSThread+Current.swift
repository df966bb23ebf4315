public import QoSCore
import QoSKernel

extension QoSThread where Success == Never {
    /// The level of the calling thread (rule T1), which is a ``QoSThread`` or the main thread; `nil` is unspecified.
    ///
    /// It is the thread's level, not that of its current task: see ``QoS/currentLevel`` for the task's.
    public static var currentLevel: QoSLevel? { ThreadLevel.current?.level ?? MainThread.levelIfCurrent }

    /// The level of the main thread (rule T5). It follows the kind of the process.
    public static var mainLevel: QoSLevel { MainThread.level }

    /// Changes the level of the calling thread (rule T2): its later submissions and its kernel effects.
    ///
    /// ``missingEffects`` lists the effects that the kernel refuses: without privileges a thread cannot come up again.
    ///
    /// - Throws: ``QoSThreadError/optedOut`` (rule T4); ``QoSThreadError/noLevelOfItsOwn`` on any other thread.
    public static func setCurrentLevel(_ level: QoSLevel) throws(QoSThreadError) {
        guard let current = ThreadLevel.current else { throw .noLevelOfItsOwn }
        guard current.set(level) else { throw .optedOut }
        current.applyEffects()
    }

    /// Sets the calling thread's nice value, like programs without levels (setpriority(2)), and opts the thread out.
    /// Its level reads unspecified from now on, and it takes no level any more (rule T4).
    ///
    /// - Parameter nice: −20…19.
    /// - Throws: ``QoSThreadError/noLevelOfItsOwn`` on a thread without a level of its own;
    ///   ``QoSThreadError/refused(_:)`` when the kernel refuses. Nothing has then changed.
    public static func setCurrentNice(_ nice: Int) throws(QoSThreadError) {
        try optOut { calls throws(KernelError) in try calls.setNice(nice, of: .current) }
    }

    /// Sets the calling thread's policy, like programs without levels (sched_setscheduler(2)). Opts the thread out,
    /// like ``setCurrentNice(_:)``.
    public static func setCurrentPolicy(_ policy: LegacyThreadPolicy) throws(QoSThreadError) {
        try optOut { calls throws(KernelError) in
            let nice = try calls.nice(of: .current)
            try calls.setScheduling(Scheduling(policy: policy.policy, nice: nice), of: .current)
        }
    }

    private static func optOut(
        _ change: (any SchedulingCalls) throws(KernelError) -> Void
    ) throws(QoSThreadError) {
        guard let current = ThreadLevel.current else { throw .noLevelOfItsOwn }
        var outcome = Result<Void, KernelError>.success(())
        // Raises for waiters are put back on top of the new scheduling. So the end of a raise does not take the new
        // scheduling back. The thread has no level by then: a raise up to its former one is needed as well.
        current.changingScheduling {
            outcome = Result { () throws(KernelError) in try change(LockKernel.profile.calls) }
            if case .success = outcome { current.optOut() }
        }
        do throws(KernelError) {
            try outcome.get()
        } catch {
            throw .refused("\(error)")
        }
    }
}

/// The scheduling policies of programs without levels (sched(7)).
public enum LegacyThreadPolicy: Sendable, Hashable {
    /// SCHED_OTHER.
    case other
    /// SCHED_BATCH.
    case batch
    /// SCHED_IDLE.
    case idle
    /// SCHED_FIFO with a priority of 1…99.
    case fifo(priority: Int)
    /// SCHED_RR with a priority of 1…99.
    case roundRobin(priority: Int)

    fileprivate var policy: SchedulingPolicy {
        switch self {
        case .other: .other
        case .batch: .batch
        case .idle: .idle
        case .fifo(let priority): .fifo(priority: priority)
        case .roundRobin(let priority): .roundRobin(priority: priority)
        }
    }
}
