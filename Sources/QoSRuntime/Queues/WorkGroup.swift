public import QoSCore
import QoSKernel

/// Counts pieces of work, and tells when all have ended (rule B14).
///
/// Who waits for it waits for the items that were submitted as a part of it: a thread's wait that one of them would make last for ever
/// is refused (rule I5). Who has entered by ``enter()`` is not known.
///
/// ```swift
/// let group = WorkGroup()
/// for file in files { queue.async(in: group) { scan(file) } }
/// await group.finished()
/// ```
///
/// Threading: any thread.
public final class WorkGroup: Sendable {
    private struct State {
        var count = 0
        /// The items among what is going on.
        var members: [GroupEntry] = []
        var threads: [ThreadWait] = []
        var tasks: [CheckedContinuation<Void, Never>] = []
        var notifications: [ClosureEntry] = []

        /// What is to be done outside of the lock when something has ended.
        struct Ending {
            var threads: [ThreadWait] = []
            var tasks: [CheckedContinuation<Void, Never>] = []
            var notifications: [ClosureEntry] = []

            func perform() {
                for entry in notifications { entry.queue.add(entry) }
                for task in tasks { task.resume() }
                for thread in threads { thread.parker.unpark() }
            }
        }

        /// - Returns: `nil` when nothing was going on.
        mutating func left() -> Ending? {
            guard count > 0 else { return nil }
            count -= 1
            guard count == 0 else { return Ending() }
            defer { (threads, tasks, notifications) = ([], [], []) }
            return Ending(threads: threads, tasks: tasks, notifications: notifications)
        }
    }

    private let state = Lock(State())

    private let name: String

    /// Makes a group of nothing.
    ///
    /// - Parameter name: for errors and reports.
    public init(_ name: String = "group") {
        self.name = name
    }

    /// A piece of work begins.
    public func enter() {
        state.withLock { $0.count += 1 }
    }

    /// A piece of work has ended. The last one lets those who wait go on.
    ///
    /// - Throws: ``WorkQueueError/unbalancedLeave`` when none is going on; the group stays as it is.
    public func leave() throws(WorkQueueError) {
        guard let ended = state.withLock({ $0.left() }) else { throw .unbalancedLeave }
        ended.perform()
    }

    /// An item begins, to be known until it leaves.
    func enter(_ entry: GroupEntry) {
        state.withLock { state in
            state.count += 1
            entry.member = state.members.count
            state.members.append(entry)
        }
    }

    /// An item has ended.
    func leave(_ entry: GroupEntry) {
        let ended: State.Ending? = state.withLock { state in
            let last = state.members.removeLast()
            if last !== entry {
                state.members[entry.member] = last
                last.member = entry.member
            }
            return state.left()
        }
        // Without one somebody else has left in this one's place, and everybody has been let go already.
        ended?.perform()
    }

    /// Submits a closure to a queue when nothing is going on, or at once if that is so now. The level is resolved now (rule B5).
    public func notify(
        on queue: WorkQueue, level: QoSLevel? = nil, flags: WorkItemFlags = [],
        _ body: @escaping @Sendable () -> Void
    ) {
        let entry = ClosureEntry(
            queue: queue.core, level: queue.core.asynchronousLevel(level, flags), isBarrier: flags.contains(.barrier),
            context: .captured(flags), onShutdown: flags.shutdownBehavior, body: body)
        let isOver = state.withLock { state in
            if state.count > 0 { state.notifications.append(entry) }
            return state.count == 0
        }
        if isOver { queue.core.add(entry) }
    }

    /// Waits, without blocking a thread, until nothing is going on.
    public func finished() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.count > 0 { state.tasks.append(continuation) }
                return state.count == 0
            }
            if isOver { continuation.resume() }
        }
    }

    /// Waits, blocking the calling thread, until nothing is going on. In a task use ``finished()``.
    ///
    /// - Throws: ``WorkQueueError/deadlock(waits:)`` where an item of the group waits, in the end, for the calling thread, or is run by
    ///   it; the items and what they wait for are known, what entered by ``enter()`` is not, nor is what tasks await.
    public func wait() throws(WorkQueueError) {
        let thread = ThreadWait()
        guard parks(thread) else { return }
        let waiter = LockWaiter(
            party: .callingThread, name: nil, level: QoS.currentLevel, lockName: awaitedName)
        do throws(WorkQueueError) {
            try waiter.sleep(thread, awaiting: self, refusal: WorkQueueError.deadlock(waits:))
        } catch {
            // It may have ended just when the wait was refused.
            if gaveUp(thread) { throw error }
        }
    }

    /// Waits, blocking the calling thread, until nothing is going on or the time is up.
    ///
    /// - Parameter timeout: 0 or less only looks.
    /// - Returns: whether nothing is going on.
    public func wait(for timeout: Duration) -> Bool {
        let deadline = MonotonicClock.nanoseconds().addingSaturating(timeout.clampedNanoseconds)
        let thread = ThreadWait()
        guard parks(thread) else { return true }
        return thread.parker.park(untilNanoseconds: deadline) || !gaveUp(thread)
    }

    /// - Returns: `false` when nothing is going on; the thread is then not kept.
    private func parks(_ thread: ThreadWait) -> Bool {
        state.withLock { state in
            if state.count > 0 { state.threads.append(thread) }
            return state.count > 0
        }
    }

    /// - Returns: whether the thread was still kept.
    private func gaveUp(_ thread: ThreadWait) -> Bool {
        state.withLock { state in
            let isKept = state.threads.contains { $0 === thread }
            state.threads.removeAll { $0 === thread }
            return isKept
        }
    }
}

extension WorkGroup: ThreadAwaited {
    /// The items are kept by the group while they are looked at, so that none is released here.
    var blockers: [UInt32] {
        state.withLock { state in
            state.members.flatMap { member in member.queue.blockers(of: member) }
        }
    }

    var awaitedName: String { "group '\(name)'" }

    /// Waiting for a group raises nobody: who has to leave it is not known in general.
    func raised(to level: LevelCode) {}

    func lowered(from level: LevelCode) {}
}

extension WorkQueue {
    /// Submits a closure as a part of a group, which it leaves at its end; otherwise as ``async(level:flags:_:)``.
    public func async(
        in group: WorkGroup, level: QoSLevel? = nil, flags: WorkItemFlags = [],
        _ body: @escaping @Sendable () -> Void
    ) {
        core.add(
            GroupEntry(of: group, queue: core, level: core.asynchronousLevel(level, flags), flags: flags, body: body))
    }
}
