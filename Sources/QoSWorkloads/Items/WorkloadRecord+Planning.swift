internal import QoSCore

/// The decisions about the times of one item. Every store takes them here.
extension WorkloadRecord {
    /// Returns the window of the first run.
    package static func firstWindow(of schedule: WorkloadSchedule, at now: WallTime) -> RunWindow {
        switch schedule {
        case .now: RunWindow(start: now, end: now)
        case .after(let delay): RunWindow(start: now.advanced(by: delay), end: now.advanced(by: delay))
        case .at(let time): RunWindow(start: time, end: time)
        case .onFileEvents: RunWindow(start: .distantFuture, end: .distantFuture)
        case .every, .cron: schedule.recurrence?.first(from: now) ?? RunWindow(start: now, end: now)
        }
    }

    /// Makes the record of a new item.
    package init(inserting request: WorkloadRequest, as id: WorkloadItemID, at now: WallTime) {
        self.init(
            id: id, request: request, inserted: now, life: WorkloadLife(insertedAt: now), level: request.level,
            window: Self.firstWindow(of: request.schedule, at: now))
        if case .after(let length) = request.schedule { delay = Delay(length: length, begin: now) }
    }

    /// Sets the window of the next run.
    package mutating func plan(_ window: RunWindow) {
        planned = window.start
        due = window.start
        windowEnd = window.end
        delay = nil
    }

    /// Sets the window of the next run again if this one was missed, and missed runs are skipped.
    package mutating func skipMissedRun(at now: WallTime) {
        guard request.catchUp == .skip, !hasBegun,
            let next = request.schedule.recurrence?.skipping(RunWindow(start: due, end: windowEnd), now: now)
        else { return }
        plan(next)
    }

    /// Plans an item again that waits for its time, after the clock was set back.
    ///
    /// - Returns: whether its due time changed.
    package mutating func clockSetBack(to now: WallTime) -> Bool {
        if let begin = delay?.begin, let length = delay?.length, begin > now {
            delay?.begin = now
            due = min(due, now.advanced(by: length))
            return true
        }
        guard delay == nil, !hasBegun,
            let window = request.schedule.recurrence?.replanned(
                RunWindow(start: due, end: windowEnd), lastRun: lastRun, now: now)
        else { return false }
        plan(window)
        return true
    }

    /// Takes over a new request (``DuplicatePolicy/update``). A new schedule is planned from the last run.
    package mutating func updated(to new: WorkloadRequest, at now: WallTime) {
        let old = request
        request = new
        (request.dependencies, request.onFailedParent) = (old.dependencies, old.onFailedParent)
        // A run that has begun goes on, and one that an operator wants stays due.
        guard old.schedule != new.schedule, state.isWaiting, !hasBegun, !ignoresConditions else { return }
        firstTrigger = nil
        if case .onFileEvents = new.schedule, old.schedule.isOnFileEvents { return }
        let start = min(lastRun ?? inserted, now)
        guard let recurrence = new.schedule.recurrence else {
            plan(Self.firstWindow(of: new.schedule, at: start))
            if case .after(let length) = new.schedule { delay = Delay(length: length, begin: start) }
            return
        }
        let window =
            lastRun == nil
            ? recurrence.first(from: start) : recurrence.next(after: start, begunAt: start, keepsAll: false)
        plan(recurrence.replanned(window, lastRun: lastRun, now: now) ?? window)
        if due <= now { skipMissedRun(at: now) }
    }

    /// Notes that an attempt begins.
    package mutating func attemptBegan(at now: WallTime) {
        guard !hasBegun else { return }
        hasBegun = true
        lastRun = now
        firstTrigger = nil
    }

    /// Notes that the run goes on after a delay.
    package mutating func delayed(by length: Duration, at now: WallTime) {
        due = now.advanced(by: length)
        delay = Delay(length: length, begin: now)
    }

    /// Notes that the run is over.
    package mutating func runEnded() {
        ignoresConditions = false
        hasBegun = false
    }

    /// Plans the next run of a repeating item, at its requested level.
    ///
    /// After a failed run the checkpoint stays: the next run goes on from there.
    package mutating func planNextRun(at now: WallTime) {
        level = request.level
        if let recurrence = request.schedule.recurrence {
            plan(
                recurrence.next(
                    after: planned, begunAt: lastRun ?? now, keepsAll: request.catchUp == .runAll))
        } else if case .onFileEvents(let trigger) = request.schedule {
            let due = isTriggeredAgain ? now.advanced(by: trigger.settling) : .distantFuture
            isTriggeredAgain = false
            plan(RunWindow(start: due, end: due))
        }
    }

    /// Notes that the item is to run now, whatever its schedule and its conditions say.
    package mutating func runRequested(at now: WallTime) {
        ignoresConditions = true
        due = min(due, now)
        delay = nil
        planned = min(planned, now)
    }

    /// Notes a change of the files that the item waits for.
    ///
    /// - Returns: whether its due time changed.
    package mutating func fileChanged(at now: WallTime) -> Bool {
        guard case .onFileEvents(let trigger) = request.schedule else { return false }
        guard state.isWaiting, !hasBegun else {
            isTriggeredAgain = true
            return false
        }
        guard state == .scheduled else { return false }
        let due = trigger.due(eventAt: now, first: firstTrigger)
        firstTrigger = firstTrigger ?? now
        plan(RunWindow(start: due, end: due))
        return true
    }

    /// Says what a waiting item waits for: its time, other items, or a host.
    ///
    /// - Parameter reason: the reason instead of the due time.
    package mutating func settle(because reason: String? = nil, hasParents: Bool, at now: WallTime) {
        if due > now {
            let isForFiles = due == .distantFuture
            let wait = reason ?? (isForFiles ? "waits for a change of its files" : "due at \(due)")
            life.waitChanged(to: .time(wait), at: now)
        } else if hasParents {
            life.waitChanged(to: .parents("waits for other items"), at: now)
        } else {
            let version = request.version > 1 ? " in version \(request.version) or later" : ""
            life.waitChanged(
                to: .host("waits for a free place at a host that has '\(request.name)'\(version)"), at: now)
        }
    }

    /// The reason for which an item is cancelled after this parent of it.
    package var failureReason: String { "depends on \(displayName): \(life.reason)" }

    /// The reason of a blocked item, by the names of its parents.
    package static func reason(waitingFor first: String, others: Int) -> String {
        "waits for \(first)\(others > 0 ? " and \(others) more" : "")"
    }

    /// The reason of an item whose key is full.
    package static func reason(running: Int, of key: ConcurrencyKey) -> String {
        "\(running) of \(key.limit) items with the key '\(key.key)' run"
    }
}
