import CQoSShims
import QoSCore
import QoSKernel

// Threads that sleep until something ends that is no lock stand in the same graph, so that a cycle over locks and queues is found, and
// a raise goes on along both (rules I1, I2).

extension LockRegistry {
    /// Lets the calling thread sleep until something has ended, or until its wait is given up for a circle that closed later.
    ///
    /// - Parameters:
    ///   - wait: is unparked at the end; this may return before that.
    ///   - level: of the wait.
    ///   - neverEnds: is called where the wait closes a circle and no wait on it can be given up.
    /// - Throws: the cycle for whose sake this wait is given up.
    func sleep(
        _ wait: ThreadWait, awaiting awaited: any ThreadAwaited, at level: QoSLevel?, neverEnds: (Cycle) -> Void
    ) throws(Cycle) {
        let id = cqos_own_id()
        let task = ConcurrencyRuntime.currentTask
        let awaiting = ThreadAwaiting(awaited, wait)
        let begun: Result<BegunSleep, Cycle> = state.withLock { state in
            state.awaits[id] = awaiting
            var sleep: BegunSleep
            do throws(Cycle) {
                sleep = try state.begin(id, at: level)
            } catch {
                state.awaits[id] = nil
                return .failure(error)
            }
            if let task {
                // A waiter for something that the task holds raises what the thread waits for.
                sleep.changes += state.graph.acquired(.thread(id), .execution(id))
                let execution = try? state.graph.waits(.task(task), at: level, for: .execution(id), refusesCycle: false)
                sleep.changes += execution?.raises ?? []
            }
            sleep.raises = state.note(sleep.changes)
            // A thread that began to wait for this one before this wait was known found nothing to raise further.
            if let effective = state.graph.effectiveLevel(of: .thread(id)), level.map({ $0 < effective }) ?? true {
                awaiting.note(LevelCode(effective))
                sleep.raises.append(
                    LockRaise(party: .thread(id), means: .awaited(nil, awaiting, LevelCode(effective))))
            }
            return .success(sleep)
        }
        let sleep = try begun.get()
        for raise in sleep.raises { _ = raise.perform() }
        sleep.refused?.wait.parker.unpark()
        if let cycle = sleep.endless { neverEnds(cycle) }
        wait.parker.park()
        try end(awaiting, of: id, task)
    }

    private func end(_ awaiting: ThreadAwaiting, of id: UInt32, _ task: TaskAddress?) throws(Cycle) {
        let (ended, raises, refusal) = state.withLock { state -> ([LevelCode], [LockRaise], Cycle?) in
            var changes = state.graph.stoppedWaiting(.thread(id))
            if let task {
                changes += state.graph.stoppedWaiting(.task(task))
                changes += state.graph.released(.thread(id), .execution(id))
            }
            state.awaits[id] = nil
            return (awaiting.takeRaises(), state.note(changes), awaiting.refusal)
        }
        for level in ended { awaiting.awaited.lowered(from: level) }
        for raise in raises { _ = raise.perform() }
        settleCallingThread(id)
        if let refusal { throw refusal }
    }

    /// An item that a thread runs is raised: if the thread sleeps in a wait, so is who it waits for, until that wait ends.
    func raised(thread id: UInt32, to level: QoSLevel) {
        let raises = state.withLock { state -> [LockRaise] in
            let party = LockParty.thread(id)
            guard state.graph.resource(awaitedBy: party) != nil,
                state.graph.effectiveLevel(of: party).map({ $0 < level }) ?? true
            else { return [] }
            let raises = state.note(state.graph.levelChanged(party, to: level))
            guard let awaiting = state.awaits[id] else { return raises }
            awaiting.note(LevelCode(level))
            return raises + [LockRaise(party: party, means: .awaited(nil, awaiting, LevelCode(level)))]
        }
        for raise in raises { _ = raise.perform() }
    }
}

extension LockRegistry {
    /// What follows from a thread's wait that has begun.
    fileprivate struct BegunSleep {
        var changes: [WaitRaise<LockParty>] = []
        var raises: [LockRaise] = []
        /// The wait of another thread that is given up for this one.
        var refused: ThreadAwaiting?
        /// The circle that this wait closes and that no thread can leave.
        var endless: Cycle?
    }
}

extension LockRegistry.State {
    /// Enters a thread's wait into the graph; where that closes a circle, one wait on it is given up: this one, or another.
    ///
    /// - Throws: the cycle where it is this one.
    fileprivate mutating func begin(_ id: UInt32, at level: QoSLevel?) throws(LockRegistry.Cycle)
        -> LockRegistry.BegunSleep
    {
        let awaits = self.awaits
        let party = LockParty.thread(id)
        var sleep = LockRegistry.BegunSleep()
        do throws(LockRegistry.Cycle) {
            sleep.changes = try graph.waits(
                party, at: level, for: .awaited(id), blockers: { awaits.blockers(of: $0) }
            ).raises
        } catch {
            switch CircleRefusal(of: error.links.map(\.waiter), closedBy: party, mayGiveUp: { awaits.mayGiveUp($0) }) {
            case .closing: throw error
            case .other(let other):
                sleep.refused = awaits.sleeping(other)
                sleep.refused?.refusal = error
            case .nobody: sleep.endless = error
            }
            let begun = try? graph.waits(party, at: level, for: .awaited(id), refusesCycle: false)
            sleep.changes = begun?.raises ?? []
        }
        return sleep
    }
}

extension [UInt32: ThreadAwaiting] {
    fileprivate func sleeping(_ party: LockParty) -> ThreadAwaiting? {
        guard case .thread(let id) = party else { return nil }
        return self[id]
    }

    fileprivate func mayGiveUp(_ party: LockParty) -> Bool { sleeping(party)?.awaited.mayBeGivenUp ?? false }
}
