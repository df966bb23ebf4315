import QoSCore
import QoSKernel

/// The target of a thread's wait that is no lock, such as an item of a work queue or a closure that runs once.
protocol ThreadWaitTarget: AnyObject, Sendable {
    /// All known threads that have to make progress before the target can end. Empty if they are not known, or if the
    /// target will end by itself.
    ///
    /// Asked under the registry's lock for circles. The locks needed here may be taken while that one is held, never
    /// the other way round. A thread named here counts only if it sleeps in a wait itself. So it must be named only for
    /// work on its own stack.
    var blockers: [UInt32] { get }

    /// Whether a thread can give up its wait for the target. It then gets an error. Asked under the registry's lock for
    /// circles.
    var mayBeGivenUp: Bool { get }

    /// The target's name in reports and errors.
    var awaitedName: String { get }

    /// Raises the target, because higher work needs the waiting thread, until ``lowered(from:)``.
    func raised(to level: LevelCode)

    /// Ends a raise.
    func lowered(from level: LevelCode)
}

extension ThreadWaitTarget {
    var mayBeGivenUp: Bool { true }
}

/// A thread's wait for a target that is no lock.
// SAFETY: `raises` and `refusal` are touched under the lock of the thread's shard in the registry, and by the thread
// when its wait is over.
final class ThreadTargetWait: @unchecked Sendable {
    let awaited: any ThreadWaitTarget

    /// Wakes the thread.
    let wait: ThreadWait

    /// The end of the wait at the latest; `nil` for a wait that lasts until its target ends.
    let deadline: UInt64?

    /// The circle for which the wait is given up.
    var refusal: LockRegistry.Cycle?

    /// The levels that the waiting thread inherited meanwhile and passed on.
    private var raises: [LevelCode] = []

    init(_ awaited: any ThreadWaitTarget, _ wait: ThreadWait, until deadline: UInt64? = nil) {
        self.awaited = awaited
        self.wait = wait
        self.deadline = deadline
    }

    /// Parks the thread until its target wakes it, or until the deadline.
    func park() {
        if let deadline { _ = wait.parker.park(untilNanoseconds: deadline) } else { wait.parker.park() }
    }

    /// Parks the thread for a time at most.
    ///
    /// - Returns: whether it was woken.
    func park(for nanoseconds: UInt64) -> Bool {
        wait.parker.park(untilNanoseconds: MonotonicClock.nanoseconds().addingSaturating(nanoseconds))
    }

    /// Notes a raise of the target, to be taken back when the wait is over.
    func note(_ level: LevelCode) {
        raises.append(level)
    }

    /// Returns the noted raises when the wait is over.
    func takeRaises() -> [LevelCode] {
        defer { raises = [] }
        return raises
    }
}
