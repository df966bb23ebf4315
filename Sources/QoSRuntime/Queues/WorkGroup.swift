public import QoSCore
import QoSKernel

/// Counts pieces of work, and tells when all have ended (rule B14).
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
        var threads: [ThreadWait] = []
        var tasks: [CheckedContinuation<Void, Never>] = []
        var notifications: [ClosureEntry] = []
    }

    private let state = Lock(State())

    /// Makes a group of nothing.
    public init() {}

    /// A piece of work begins.
    public func enter() {
        state.withLock { $0.count += 1 }
    }

    /// A piece of work has ended. The last one lets those who wait go on.
    ///
    /// - Throws: ``WorkQueueError/unbalancedLeave`` when none is going on; the group stays as it is.
    public func leave() throws(WorkQueueError) {
        let ended: State? = state.withLock { state in
            guard state.count > 0 else { return nil }
            state.count -= 1
            guard state.count == 0 else { return State(count: 1) }
            defer { state = State() }
            return state
        }
        guard let ended else { throw .unbalancedLeave }
        for entry in ended.notifications { entry.queue.add(entry) }
        for task in ended.tasks { task.resume() }
        for thread in ended.threads { thread.parker.unpark() }
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
    public func wait() {
        _ = wait(until: nil)
    }

    /// Waits, blocking the calling thread, until nothing is going on or the time is up.
    ///
    /// - Parameter timeout: 0 or less only looks.
    /// - Returns: whether nothing is going on.
    public func wait(for timeout: Duration) -> Bool {
        wait(until: MonotonicClock.nanoseconds().addingSaturating(timeout.clampedNanoseconds))
    }

    private func wait(until deadline: UInt64?) -> Bool {
        let thread = ThreadWait()
        let isOver = state.withLock { state in
            if state.count > 0 { state.threads.append(thread) }
            return state.count == 0
        }
        if isOver { return true }
        guard let deadline else {
            thread.parker.park()
            return true
        }
        if thread.parker.park(untilNanoseconds: deadline) { return true }
        return state.withLock { state in
            let isKept = state.threads.contains { $0 === thread }
            state.threads.removeAll { $0 === thread }
            return !isKept
        }
    }
}

extension WorkQueue {
    /// Submits a closure as a part of a group, which it leaves at its end; otherwise as ``async(level:flags:_:)``.
    public func async(
        in group: WorkGroup, level: QoSLevel? = nil, flags: WorkItemFlags = [],
        _ body: @escaping @Sendable () -> Void
    ) {
        group.enter()
        // An error would say that somebody else has left in this one's place: everybody has been let go already then.
        let leave: @Sendable () -> Void = { try? group.leave() }
        core.add(
            ClosureEntry(
                queue: core, level: core.asynchronousLevel(level, flags), isBarrier: flags.contains(.barrier),
                context: .captured(flags), onShutdown: flags.shutdownBehavior, skipped: leave
            ) {
                body()
                leave()
            })
    }
}
