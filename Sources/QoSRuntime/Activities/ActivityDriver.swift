import QoSCore
import QoSKernel

/// Drives the machines of background activities with a host's clocks, timers and tasks.
///
/// A look asks every machine, then starts runs and asks runs to defer. It follows a timer, a change of the
/// surroundings, the end of a run and each call of the program. A timer is never taken back. One that is not needed any
/// more causes a look that finds nothing.
///
/// Threading: any thread.
final class ActivityDriver: Sendable {
    private let host: any ActivityHost
    private let state = Lock(ActivityTable())

    init(host: any ActivityHost) {
        self.host = host
    }

    /// Adds an activity.
    func add(_ activity: BackgroundActivity, _ body: @escaping ActivityTable.Body) throws(BackgroundActivityError) {
        if let problem = activity.problem { throw .invalid(identifier: activity.identifier, problem) }
        let now = host.clocks
        try state.withLock { (state) throws(BackgroundActivityError) in
            guard state.ending == nil else { throw .ended }
            guard state.entries[activity.identifier] == nil else {
                throw .duplicateIdentifier(activity.identifier)
            }
            state.entries[activity.identifier] = ActivityTable.Entry(
                machine: ActivityMachine(activity, at: now), body: body)
        }
        look()
    }

    /// Looks at all activities.
    ///
    /// - Complexity: O(activities).
    func look() {
        let (conditions, decision) = host.surroundings
        let actions = state.withLock { state -> ActivityTable.Actions in
            // Within the lock, so that no look is made with an older time than the one before.
            let now = host.clocks
            var actions = ActivityTable.Actions()
            for identifier in state.entries.keys.sorted() {
                state.look(identifier, conditions, decision, at: now, &actions)
            }
            if let alarm = actions.alarm, alarm.time < state.armed {
                state.armed = alarm.time
            } else {
                actions.alarm = nil
            }
            return actions
        }
        perform(actions)
    }

    private func perform(_ actions: ActivityTable.Actions) {
        for event in actions.events { host.report(event) }
        for begin in actions.begins {
            let task = host.startTask(at: begin.qosClass, name: begin.identifier) { [self] in
                await run(begin.body, begin.run)
            }
            let isCancelled = state.withLock { state in
                guard state.entries[begin.identifier]?.run === begin.run else { return false }
                state.entries[begin.identifier]?.task = task
                return state.entries[begin.identifier]?.isCancelled == true
            }
            if isCancelled { task.cancel() }
        }
        if let alarm = actions.alarm {
            host.wake(afterNanoseconds: UInt64(max(0, alarm.after)), tolerance: UInt64(max(0, alarm.tolerance))) {
                [weak self] in
                self?.alarmRang(for: alarm.time)
            }
        }
    }

    private func alarmRang(for time: Int64) {
        state.withLock { state in
            if state.armed == time { state.armed = .max }
        }
        look()
    }

    private func run(_ body: ActivityTable.Body, _ run: ActivityRun) async {
        let ending: ActivityMachine.Ending
        do {
            let outcome = try await QoS.withActivity(run.identifier) {
                try await body(BackgroundActivityContext(run: run))
            }
            ending = outcome == .finished ? .finished : .deferred
        } catch {
            ending = .failed("\(error)")
        }
        ended(run, ending)
    }

    private func ended(_ run: ActivityRun, _ ending: ActivityMachine.Ending) {
        let now = host.clocks
        let (event, waiters) = state.withLock {
            state -> (BackgroundActivityEvent?, [CheckedContinuation<Void, Never>]) in
            guard var entry = state.entries[run.identifier], entry.run === run else { return (nil, []) }
            let ending = entry.isCancelled && ending != .finished ? .cancelled : ending
            entry.machine.ended(ending, at: now)
            (entry.run, entry.task) = (nil, nil)
            state.entries[run.identifier] = entry.isCancelled ? nil : entry
            return (.ended(run.identifier, BackgroundActivityResult(ending)), state.takeWaiters())
        }
        if let event { host.report(event) }
        for waiter in waiters { waiter.resume() }
        look()
    }

    /// Cancels an activity. A run is asked to defer, and its task is cancelled.
    ///
    /// - Returns: whether there was such an activity.
    func cancel(_ identifier: String) -> Bool {
        let (isFound, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard let entry = state.entries[identifier], !entry.isCancelled else { return (false, nil) }
            guard let run = entry.run else {
                state.entries[identifier] = nil
                return (true, nil)
            }
            run.askToDefer(because: "the activity is cancelled")
            state.entries[identifier]?.isCancelled = true
            return (true, entry.task)
        }
        task?.cancel()
        return isFound
    }

    /// Begins no more runs, and asks those that go on to defer.
    func end(because reason: String) {
        let events = state.withLock { state -> [BackgroundActivityEvent] in
            guard state.ending == nil else { return [] }
            state.ending = reason
            var events: [BackgroundActivityEvent] = []
            for (identifier, entry) in state.entries {
                guard let run = entry.run else { continue }
                run.askToDefer(because: reason)
                if state.entries[identifier]?.machine.asksToDefer(because: reason) == true {
                    events.append(.askedToDefer(identifier, reason: reason))
                }
            }
            return events
        }
        for event in events { host.report(event) }
    }

    /// Cancels the tasks of the runs that go on, after the end.
    func cancelRuns() {
        let tasks = state.withLock { state in
            for identifier in state.entries.keys { state.entries[identifier]?.isCancelled = true }
            return state.entries.values.compactMap(\.task)
        }
        for task in tasks { task.cancel() }
    }

    /// The identifiers of the runs that go on.
    var running: [String] {
        state.withLock { state in state.entries.filter { $0.value.run != nil }.keys.sorted() }
    }

    /// Suspends the task until no run goes on, or until ``giveUp()``.
    func waitUntilIdle() async {
        await withCheckedContinuation { waiter in
            let isIdle = state.withLock { state in
                guard state.entries.values.contains(where: { $0.run != nil }) else { return true }
                state.waiters.append(waiter)
                return false
            }
            if isIdle { waiter.resume() }
        }
    }

    /// Lets those go on that wait until no run goes on.
    func giveUp() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The states, in the order of the identifiers.
    var states: [BackgroundActivityState] {
        let (conditions, decision) = host.surroundings
        return state.withLock { state in
            let now = host.clocks
            return state.entries.keys.sorted().compactMap { identifier in
                guard var entry = state.entries[identifier] else { return nil }
                return BackgroundActivityState(
                    &entry.machine, obstacle: entry.machine.activity.obstacle(in: conditions, decision), at: now)
            }
        }
    }
}
