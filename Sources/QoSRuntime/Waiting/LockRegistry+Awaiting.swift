import CQoSShims
import QoSCore
import QoSKernel

// Threads that sleep for a target that is no lock (``ThreadWaitTarget``), and tasks whose thread sleeps. The search for
// circles crosses locks and queues, and a raise goes on along both (rules I1, I2).

extension LockRegistry {
    /// The time of a wait after which the thread looks for a circle again. Nanoseconds.
    private static let firstPatience: UInt64 = 20_000_000

    /// Blocks the calling thread until its target has ended, or until its wait is given up for a circle that closed
    /// later.
    ///
    /// A queue that is resumed, an item whose delay ends, or a new member of a group may close a circle while all its
    /// threads sleep already. So a waiting thread looks again after 20 ms, and each time after twice as long. A circle
    /// lasts at most 20 ms, or as long as the wait had lasted before it.
    ///
    /// - Parameters:
    ///   - wait: unparked at the end. The call may return before that.
    ///   - level: the level of the wait that the target knows. A higher one is passed on.
    ///   - deadline: the end of the wait at the latest. Such a wait is no part of a circle.
    ///   - neverEnds: called if the wait closes a circle and no wait on the circle can be given up.
    /// - Throws: the cycle for which this wait is given up.
    func sleep(
        _ wait: ThreadWait, awaiting awaited: any ThreadWaitTarget, at level: QoSLevel?, until deadline: UInt64? = nil,
        neverEnds: (Cycle) -> Void
    ) throws(Cycle) {
        let id = cqos_own_id()
        let party = LockParticipant.thread(id)
        let awaiting = ThreadTargetWait(awaited, wait, until: deadline)
        let known = LevelCode(level)
        let begun = begins(party, at: known, for: .awaited(id), isAwake: true) { $0.awaiting = awaiting }
        guard begun.isRecorded else {
            // Foreign code waits, on a thread that is about to wait itself.
            awaiting.park()
            return
        }
        var isReported = false
        if deadline == nil {
            try open(party, awaiting) { cycle in
                neverEnds(cycle)
                isReported = true
            }
        }
        // Read after the wait was entered: a raise that is not contained here finds the wait.
        let present = LevelCode(QoS.waitingLevel)
        handOn(party, to: awaiting, at: present, knownAt: known)
        let task = beginExecution(by: id, at: max(known, present))
        let circle = parkLooking(party, awaiting) { cycle in
            if !isReported { neverEnds(cycle) }
            isReported = true
        }
        let refusal = circle ?? end(awaiting, of: party)
        if let task { endExecution(of: task, by: id) }
        settleCallingThread(id)
        if let refusal { throw refusal }
    }

    /// Parks the calling thread until its wait's token comes, and looks for a circle now and then.
    ///
    /// - Returns: the circle for which this wait was taken back.
    private func parkLooking(
        _ party: LockParticipant, _ awaiting: ThreadTargetWait, _ neverEnds: (Cycle) -> Void
    ) -> Cycle? {
        if awaiting.deadline != nil {
            awaiting.park()
            return nil
        }
        var patience = Self.firstPatience
        do throws(Cycle) {
            try openPassedOver(party, awaiting, neverEnds)
            while !awaiting.park(for: patience) {
                patience = patience.addingSaturating(patience)
                try open(party, awaiting, neverEnds)
                try openPassedOver(party, awaiting, neverEnds)
            }
        } catch {
            return error
        }
        return nil
    }

    /// Notes that the calling thread goes to sleep in its wait. Opens the circle that another look has passed over, if
    /// there is one.
    private func openPassedOver(
        _ party: LockParticipant, _ awaiting: ThreadTargetWait, _ neverEnds: (Cycle) -> Void
    ) throws(Cycle) {
        guard let id = party.threadID else { return }
        while fallsAsleep(party, for: .awaited(id)) { try open(party, awaiting, neverEnds) }
    }

    /// Opens the circle that a thread's wait closes, if there is one: gives up this wait, or another.
    ///
    /// The wait may close several circles, one after the other. A wait that is given up for one counts as ended for the
    /// next.
    ///
    /// - Throws: the cycle, if this wait is given up.
    private func open(
        _ party: LockParticipant, _ awaiting: ThreadTargetWait, _ neverEnds: (Cycle) -> Void
    ) throws(Cycle) {
        while let wake = try openOne(party, awaiting, neverEnds) { wake() }
    }

    /// - Returns: wakes another thread, whose wait is given up; `nil` when this one closes no circle, or none that can
    ///   be opened.
    private func openOne(
        _ party: LockParticipant, _ awaiting: ThreadTargetWait, _ neverEnds: (Cycle) -> Void
    ) throws(Cycle) -> (() -> Void)? {
        switch refuseOne(closedBy: party) {
        case .own(let circle):
            _ = end(awaiting, of: party)
            throw circle
        case .other(let wake): return wake
        case .nobody(let circle):
            with(party) { $0.record.wakesUp() }
            neverEnds(circle)
            return nil
        case nil: return nil
        }
    }

    /// Opens the circles that the calling thread's wait for a mutex closes, if the wait cannot be refused. Each is
    /// opened by another thread, whose wait can be.
    ///
    /// - Parameter neverEnds: called for a circle on which no wait can be given up.
    func openOthers(_ party: LockParticipant, _ neverEnds: (Cycle) -> Void) {
        while let refusal = refuseOne(closedBy: party) {
            switch refusal {
            case .other(let wake): wake()
            case .own(let circle), .nobody(let circle):
                with(party) { $0.record.wakesUp() }
                return neverEnds(circle)
            }
        }
    }

    /// The wait of a circle that is given up.
    private enum Refusal {
        /// The one that closes the circle. It has been withdrawn.
        case own(Cycle)
        /// That of another thread. The closure wakes the thread, when no lock is held.
        case other(() -> Void)
        /// None can be.
        case nobody(Cycle)
    }

    /// Gives up one wait of the circle that a thread's wait closes.
    ///
    /// - Returns: `nil` if the wait closes none.
    private func refuseOne(closedBy party: LockParticipant) -> Refusal? {
        var refusal: Refusal?
        _ = refuse(party) { circle in
            let waiters = circle.links.map(\.waiter)
            switch DeadlockVictim(of: waiters, closedBy: party, mayGiveUp: { mayGiveUp($0) }) {
            case .closing:
                // Withdrawn at once, so that no other thread finds the circle.
                with(party) { $0.record.stopsWaiting() }
                refusal = .own(circle)
                return true
            case .other(let found):
                let wake = with(found) { $0.givesUp(for: circle) }
                refusal = wake.map { .other($0) }
            case .nobody:
                refusal = .nobody(circle)
            }
            return false
        }
        return refusal
    }

    private func mayGiveUp(_ party: LockParticipant) -> Bool {
        let (awaiting, mayCall) = with(party) { ($0.awaiting, $0.call?.mayBeGivenUp ?? false) }
        return awaiting?.awaited.mayBeGivenUp ?? mayCall
    }

    /// Passes on raises from before the wait was known: by a thread that waits for this one, or of the item that this
    /// one runs.
    ///
    /// The first also where the wait's own level is as high: the level may have risen with that raise, after the target
    /// had been submitted at the lower one.
    private func handOn(
        _ party: LockParticipant, to awaiting: ThreadTargetWait, at present: LevelCode, knownAt known: LevelCode
    ) {
        let raise = with(party) { entry in
            guard entry.record.wait != nil else { return LevelCode.none }
            entry.record.raiseOwn(to: present)
            return max(entry.record.inherited, present > known ? present : .none)
        }
        if raise != .none { self.raise(awaiting, of: party, to: raise) }
    }

    /// Raises the target of a thread's wait, until the wait ends. No lock is held.
    ///
    /// The raise is noted when it is done. So the end of the wait takes back what was done, and nothing else. If the
    /// wait ends while its target is being raised, the raise is taken back here.
    func raise(_ awaiting: ThreadTargetWait, of party: LockParticipant, to level: LevelCode) {
        guard entry(of: party)?.awaiting === awaiting else { return }
        awaiting.awaited.raised(to: level)
        let isNoted = with(party) { entry in
            guard entry.awaiting === awaiting else { return false }
            awaiting.note(level)
            return true
        }
        if !isNoted { awaiting.awaited.lowered(from: level) }
    }

    /// Ends a wait. From then on no thread notes a raise in it, or gives it up.
    ///
    /// - Returns: the circle for which it was given up.
    private func end(_ awaiting: ThreadTargetWait, of party: LockParticipant) -> Cycle? {
        with(party) { entry in
            entry.record.stopsWaiting()
            entry.awaiting = nil
        }
        for level in awaiting.takeRaises() { awaiting.awaited.lowered(from: level) }
        return awaiting.refusal
    }

    /// Passes on the raise of an item to the thread that runs it. If the thread sleeps in a wait, its target is raised
    /// too, until that wait ends.
    func raised(thread id: UInt32, to level: QoSLevel) {
        let level = LevelCode(level)
        var effects = LockEffects()
        with(.thread(id)) { entry in
            // Not the effective level: the inherited one may go before this raise does.
            guard let wait = entry.record.wait, wait.own < level else { return }
            entry.record.raiseOwn(to: level)
            noteLink(entry, of: .thread(id), &effects)
            guard let awaiting = entry.awaiting else { return }
            effects.raises.append(LockRaise(party: .thread(id), means: .awaited(nil, awaiting, level)))
        }
        follow(&effects)
        effects.perform()
    }

    // MARK: Executions

    /// Notes that the calling thread is about to sleep, if it runs a task. A waiter for a lock of the task raises the
    /// thread.
    ///
    /// - Returns: the task for ``endExecution(of:by:)``; `nil` without one, and for a task that waits already.
    func beginExecution(by thread: UInt32, at level: LevelCode) -> TaskAddress? {
        guard let task = ConcurrencyRuntime.currentTask else { return nil }
        let resource = LockResource.execution(thread)
        var effects = LockEffects()
        let isRecorded = withSite(of: resource) { _ in
            let begun = begins(.task(task), at: level, for: resource)
            guard begun.isRecorded else { return false }
            if begun.isAwaited { demand(begun.effective, of: .thread(thread), for: resource, &effects) }
            return true
        }
        follow(&effects)
        effects.perform()
        return isRecorded ? task : nil
    }

    /// Notes that the calling thread goes on with the task.
    func endExecution(of task: TaskAddress, by thread: UInt32) {
        let resource = LockResource.execution(thread)
        var effects = LockEffects()
        withSite(of: resource) { _ in
            stopsWaiting(.task(task), for: resource)
            demandNothing(of: .thread(thread), for: resource, &effects)
        }
        follow(&effects)
        effects.perform()
    }
}

extension LockRegistry.Entry {
    /// Notes that the thread's wait is given up. Under the lock of its shard.
    ///
    /// - Returns: wakes the thread; `nil` if the wait has ended meanwhile.
    fileprivate func givesUp(for circle: LockRegistry.Cycle) -> (() -> Void)? {
        if let awaiting {
            awaiting.refusal = circle
            return { awaiting.wait.parker.unpark() }
        }
        guard let call, call.mayBeGivenUp else { return nil }
        call.refusal = circle
        return { call.parker.unpark() }
    }
}
