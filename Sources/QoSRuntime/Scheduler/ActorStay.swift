import QoSCore
import QoSKernel

/// The stay of a ``QoSScheduler/withQoS(_:operation:)`` on an actor with an executor of its own, such as the main actor.
///
/// The preference for the class moves children and `@concurrent` functions into the pool, but not the actor's own code.
/// So two things are done for that code. What it awaits is raised to the class: the stay is noted in ``RaisedTasks``. And
/// a computation that takes too long is reported, if there is an observer: a timer looks at the thread's processor time.
///
/// Threading: ``begin(on:at:_:)`` and ``end()`` in the task; the looks on the loop's thread.
final class ActorStay: Sendable {
    private struct State {
        var ticket: TimerTicket?
        var isOver = false
        /// The processor time of the thread at the last look, nanoseconds.
        var used: UInt64
    }

    private let core: SchedulerCore
    private let qosClass: QoSClass
    private let task: TaskAddress
    private let outer: QoSClass?
    private let name: String?
    private let thread: ThreadID
    private let state: Lock<State>

    /// Begins the stay of the calling task, if the actor keeps it away from the pools.
    ///
    /// - Returns: `nil` without such an actor.
    static func begin(on actor: (any Actor)?, at qosClass: QoSClass, _ core: SchedulerCore) -> ActorStay? {
        guard let actor, unsafe !ConcurrencyRuntime.isDefaultActor(actor.unownedExecutor),
            Worker.current.map({ $0.qosClass < qosClass }) ?? true, let task = ConcurrencyRuntime.currentTask
        else { return nil }
        return ActorStay(task, at: qosClass, core)
    }

    private init(_ task: TaskAddress, at qosClass: QoSClass, _ core: SchedulerCore) {
        self.core = core
        self.qosClass = qosClass
        self.task = task
        outer = RaisedTasks.classOfScope(of: task)
        let isObserved = core.group.settings.observer != nil
        name = isObserved ? Task.name : nil
        thread = .current
        state = Lock(State(used: isObserved ? ThreadClock.nanoseconds(of: thread) ?? 0 : 0))
        RaisedTasks.beginScope(of: task, at: qosClass)
        if isObserved { arm() }
    }

    /// Ends the stay. In the task.
    func end() {
        RaisedTasks.endScope(of: task, outer: outer)
        let ticket = state.withLock { state in
            state.isOver = true
            return state.ticket.take()
        }
        if let ticket { core.cancelTimer(ticket) }
    }

    private var limit: UInt64 { core.group.settings.stallLimits[qosClass.rank] }

    private func arm() {
        let ticket = TimerTicket(.body { [self] in look() })
        let isOver = state.withLock { state in
            if !state.isOver { state.ticket = ticket }
            return state.isOver
        }
        guard !isOver, limit < UInt64(Int64.max) else { return }
        core.addTimer(
            TimerWindow(deadline: MonotonicClock.nanoseconds().addingSaturating(limit), tolerance: 0), .ticket(ticket))
    }

    /// Reports the task if the thread has computed since the last look, and runs the task now. Looks again otherwise, as
    /// long as the stay lasts.
    private func look() {
        // An actor whose executor is no fixed thread may have lost the one on which the stay began.
        guard let used = ThreadClock.nanoseconds(of: thread) else { return }
        // The stay does not end during the look, so the task is alive.
        let isStalled: Bool? = state.withLock { state in
            guard !state.isOver else { return nil }
            defer { state.used = used }
            // Other threads may have had the processor for a part of the time.
            return used >= state.used && used - state.used >= limit / 2 && ConcurrencyRuntime.isRunning(task) == true
        }
        guard let isStalled else { return }
        guard isStalled else { return arm() }
        core.group.observe(
            .jobStalled(worker: .outside(qosClass), duration: .nanoseconds(limit), label: name, .computing))
    }
}
