public import QoSCore
import QoSKernel

/// Counts pieces of work, and reports when all have ended (rule B14).
///
/// A wait for the group waits for the items that were submitted as a part of it. The group refuses a thread's wait that
/// one of these items would make last forever (rule I5). It cannot check work that was counted by ``enter()``.
///
/// ```swift
/// let group = WorkGroup()
/// for file in files { queue.async(in: group) { scan(file) } }
/// await group.waitUntilFinished()
/// ```
///
/// Threading: any thread.
public final class WorkGroup: Sendable {
    private struct State {
        var count = 0
        /// The items that have not ended.
        var members: [GroupEntry] = []
        /// The schedulers that have run an item since the group was empty.
        var schedulers: [SchedulerCore] = []
        var threads: [SleepingThread] = []
        var tasks: [CheckedContinuation<Void, Never>] = []
        var notifications: [ClosureEntry] = []

        /// The effects of an end, to be performed outside of the lock.
        struct Ending {
            var threads: [SleepingThread] = []
            var tasks: [CheckedContinuation<Void, Never>] = []
            var notifications: [ClosureEntry] = []
            /// Released outside of the lock.
            var schedulers: [SchedulerCore] = []

            func perform() {
                for entry in notifications { entry.queue.add(entry) }
                for task in tasks { task.resume() }
                for thread in threads {
                    thread.end()
                    thread.wait.parker.unpark()
                }
            }
        }

        /// Adds an item.
        mutating func entered(_ entry: GroupEntry) {
            count += 1
            entry.member = members.count
            members.append(entry)
            let scheduler = entry.queue.core
            guard schedulers.last !== scheduler, !schedulers.contains(where: { $0 === scheduler }) else { return }
            schedulers.append(scheduler)
            for index in threads.indices { threads[index].begin(scheduler) }
        }

        /// - Returns: `nil` when no work was counted.
        mutating func left() -> Ending? {
            guard count > 0 else { return nil }
            count -= 1
            guard count == 0 else { return Ending() }
            defer { (threads, tasks, notifications, schedulers) = ([], [], [], []) }
            return Ending(threads: threads, tasks: tasks, notifications: notifications, schedulers: schedulers)
        }
    }

    private let state = Lock(State())

    private let name: String

    /// Makes an empty group.
    ///
    /// - Parameter name: for errors and reports.
    public init(_ name: String = "group") {
        self.name = name
    }

    /// Counts a piece of work that begins.
    public func enter() {
        state.withLock { $0.count += 1 }
    }

    /// Counts a piece of work that has ended. The last one releases the waiters.
    ///
    /// - Throws: ``WorkQueueError/unbalancedLeave`` when no work is counted. The group stays as it is.
    public func leave() throws(WorkQueueError) {
        guard let ended = state.withLock({ $0.left() }) else { throw .unbalancedLeave }
        ended.perform()
    }

    /// Adds an item. The group knows it until it leaves.
    func enter(_ entry: GroupEntry) {
        let helpers = state.withLock { state -> [ThreadWait] in
            state.entered(entry)
            return state.threads.filter(\.helps).map(\.wait)
        }
        // Its scheduler may have ended. Then only these threads are sure to run it.
        if !helpers.isEmpty, entry.queue.core.group.isClosedForAll { for helper in helpers { helper.parker.unpark() } }
    }

    /// Removes an item that has ended.
    func leave(_ entry: GroupEntry) {
        let ended: State.Ending? = state.withLock { state in
            let last = state.members.removeLast()
            if last !== entry {
                state.members[entry.member] = last
                last.member = entry.member
            }
            return state.left()
        }
        // `nil` means that an extra `leave()` took this item's place. The waiters have then been released already.
        ended?.perform()
    }

    /// Submits a closure to a queue when all work has ended, or at once if there is none. The level is resolved now
    /// (rule B5). The closure has no task-local values of the caller but the service context and the activity.
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

    /// Suspends the task until all work has ended. Blocks no thread.
    public func waitUntilFinished() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.count > 0 { state.tasks.append(continuation) }
                return state.count == 0
            }
            if isOver { continuation.resume() }
        }
    }

    /// Blocks the calling thread until all work has ended. In a task use ``waitUntilFinished()``.
    ///
    /// Once a scheduler has ended, the thread runs the group's items of that scheduler itself, and the items before
    /// them, if no other thread does.
    ///
    /// - Throws: ``WorkQueueError/deadlock(waits:)`` when an item of the group runs on the calling thread, or waits for
    ///   it, directly or through others. The search follows the group's items and their waits. It does not see work
    ///   counted by ``enter()``, nor what tasks await.
    @available(*, noasync, message: "use waitUntilFinished() in a task")
    public func blockUntilFinished() throws(WorkQueueError) {
        let thread = ThreadWait()
        guard parks(thread, helps: true) else { return }
        do throws(WorkQueueError) {
            try waitHelping(thread)
        } catch {
            // The work may have ended just when the wait was refused.
            if gaveUp(thread) { throw error }
        }
    }

    private func waitHelping(_ thread: ThreadWait) throws(WorkQueueError) {
        let waiter = LockWaiter(
            party: .callingThread, name: nil, level: QoS.waitingLevel, lockName: awaitedName)
        var helped = HelpedQueues(thread)
        defer { helped.end() }
        while isKept(thread) {
            if helpOnce(thread, &helped) { continue }
            try waiter.sleep(thread, awaiting: self, refusal: WorkQueueError.deadlock(waits:))
        }
    }

    /// Runs the items of ended schedulers that no other thread runs.
    ///
    /// - Returns: whether there were any.
    private func helpOnce(_ thread: ThreadWait, _ helped: inout HelpedQueues) -> Bool {
        let members = state.withLock { state in
            state.schedulers.contains { $0.group.isClosedForAll } ? state.members : []
        }
        var hasHelped = false
        for member in members where member.queue.core.group.isClosedForAll {
            helped.begin(member.queue)
            while isKept(thread), member.queue.help(towards: member, until: { !isKept(thread) }) { hasHelped = true }
        }
        return hasHelped
    }

    /// Blocks the calling thread until all work has ended or the time is up.
    ///
    /// - Parameter timeout: the longest time to wait; 0 or less only looks.
    /// - Returns: whether all work has ended.
    @available(*, noasync, message: "use waitUntilFinished() in a task")
    public func blockUntilFinished(within timeout: Duration) -> Bool {
        let deadline = MonotonicClock.nanoseconds().addingSaturating(timeout.clampedNanoseconds)
        let thread = ThreadWait()
        guard parks(thread, helps: false) else { return true }
        return thread.parker.park(untilNanoseconds: deadline) || !gaveUp(thread)
    }

    /// Keeps a thread until all work has ended.
    ///
    /// - Parameter helps: whether the end of a scheduler wakes the thread, so that it runs the scheduler's items.
    /// - Returns: `false` when all work has ended. The thread is then not kept.
    private func parks(_ thread: ThreadWait, helps: Bool) -> Bool {
        state.withLock { state in
            guard state.count > 0 else { return false }
            var sleeping = SleepingThread(wait: thread, helps: helps)
            for scheduler in state.schedulers { sleeping.begin(scheduler) }
            state.threads.append(sleeping)
            return true
        }
    }

    private func isKept(_ thread: ThreadWait) -> Bool {
        state.withLock { state in state.threads.contains { $0.wait === thread } }
    }

    /// - Returns: whether the thread was still kept.
    private func gaveUp(_ thread: ThreadWait) -> Bool {
        let kept = state.withLock { state -> SleepingThread? in
            state.threads.firstIndex { $0.wait === thread }.map { state.threads.remove(at: $0) }
        }
        kept?.end()
        return kept != nil
    }
}

extension WorkGroup {
    /// A thread that waits for the group. The ends of these schedulers wake it.
    private struct SleepingThread {
        let wait: ThreadWait
        let helps: Bool
        private var schedulers: [SchedulerCore] = []

        init(wait: ThreadWait, helps: Bool) {
            self.wait = wait
            self.helps = helps
        }

        /// Begins to listen to the end of a scheduler, before the thread looks whether it has ended.
        mutating func begin(_ scheduler: SchedulerCore) {
            guard helps else { return }
            scheduler.sleepers.add(wait)
            schedulers.append(scheduler)
        }

        func end() {
            for scheduler in schedulers { scheduler.sleepers.remove(wait) }
        }
    }
}

extension WorkGroup: ThreadWaitTarget {
    /// The group keeps its items while it looks at them, so none is released here.
    var blockers: [UInt32] {
        state.withLock { state in
            state.members.flatMap { member in member.queue.blockers(of: member) }
        }
    }

    var awaitedName: String { "group '\(name)'" }

    /// Raises nothing. In general the group does not know which thread has to leave it.
    func raised(to level: LevelCode) {}

    func lowered(from level: LevelCode) {}
}

extension WorkQueue {
    /// Submits a closure as a part of a group. It leaves the group at its end. Otherwise like
    /// ``async(level:flags:_:)``.
    public func async(
        in group: WorkGroup, level: QoSLevel? = nil, flags: WorkItemFlags = [],
        _ body: @escaping @Sendable () -> Void
    ) {
        core.add(
            GroupEntry(of: group, queue: core, level: core.asynchronousLevel(level, flags), flags: flags, body: body))
    }
}
