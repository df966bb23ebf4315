import QoSCore

/// Something that is no lock and that a thread waits for: an item of a work queue, a closure that runs once.
protocol ThreadAwaited: AnyObject, Sendable {
    /// The threads that have to get on before it can end, every one of them, as far as that is known; none where it is not, or where
    /// it is going to end by itself.
    ///
    /// Asked under the registry's lock for circles, which may be held while the locks are taken that this needs, never the other way round. A
    /// thread named here counts only if it sleeps in a wait itself, so it has to be named for what stands on its stack only.
    var blockers: [UInt32] { get }

    /// Whether a thread that waits for it can give up: it gets an error then. Asked under the registry's lock for circles.
    var mayBeGivenUp: Bool { get }

    /// What it is called in reports and errors.
    var awaitedName: String { get }

    /// The waiting thread is wanted by something of a higher level: so is what it waits for, until ``lowered(from:)``.
    func raised(to level: LevelCode)

    /// A raise has ended.
    func lowered(from level: LevelCode)
}

extension ThreadAwaited {
    var mayBeGivenUp: Bool { true }
}

/// A thread's wait for something that is no lock.
// SAFETY: `raises` and `refusal` are touched under the lock of the thread's shard in the registry, and by the thread when its wait is over.
final class ThreadAwaiting: @unchecked Sendable {
    let awaited: any ThreadAwaited

    /// Wakes the thread.
    let wait: ThreadWait

    /// The circle for whose sake the wait is given up.
    var refusal: LockRegistry.Cycle?

    /// What the waiting thread inherited meanwhile and handed on.
    private var raises: [LevelCode] = []

    init(_ awaited: any ThreadAwaited, _ wait: ThreadWait) {
        self.awaited = awaited
        self.wait = wait
    }

    /// Notes a raise, to be handed on outside of the lock.
    func note(_ level: LevelCode) {
        raises.append(level)
    }

    /// Gives out what was noted, when the wait is over.
    func takeRaises() -> [LevelCode] {
        defer { raises = [] }
        return raises
    }
}
