import CQoSShims
import QoSCore
import QoSKernel

// Threads that sleep until something ends that is no lock stand in the same graph, so that a cycle over locks and queues is found, and
// a raise goes on along both (rules I1, I2).

extension LockRegistry {
    /// Lets the calling thread sleep until something has ended.
    ///
    /// - Parameters:
    ///   - level: of the wait.
    ///   - park: sleeps; may return before the end.
    /// - Throws: the cycle that the wait would close; the thread has not slept then.
    func sleep(awaiting awaited: any ThreadAwaited, at level: QoSLevel?, _ park: () -> Void) throws(Cycle) {
        let id = cqos_own_id()
        let task = ConcurrencyRuntime.currentTask
        let awaiting = ThreadAwaiting(awaited)
        let begun: Result<[LockRaise], Cycle> = state.withLock { state in
            state.awaits[id] = awaiting
            let awaits = state.awaits
            do throws(Cycle) {
                var changes = try state.graph.waits(
                    .thread(id), at: level, for: .awaited(id), blockers: { awaits.blockers(of: $0) }
                ).raises
                if let task {
                    // Whoever waits for something that the task holds, raises what the thread waits for.
                    changes += state.graph.acquired(.thread(id), .execution(id))
                    let execution = try? state.graph.waits(
                        .task(task), at: level, for: .execution(id), refusesCycle: false)
                    changes += execution?.raises ?? []
                }
                var raises = state.note(changes)
                // Who has begun to wait for something that the thread holds, before this wait was known, found nobody to raise further.
                if let effective = state.graph.effectiveLevel(of: .thread(id)), level.map({ $0 < effective }) ?? true {
                    awaiting.note(LevelCode(effective))
                    raises.append(
                        LockRaise(party: .thread(id), means: .awaited(nil, awaiting, LevelCode(effective))))
                }
                return .success(raises)
            } catch {
                state.awaits[id] = nil
                return .failure(error)
            }
        }
        for raise in try begun.get() { _ = raise.perform() }
        park()
        let (ended, raises) = state.withLock { state -> ([LevelCode], [LockRaise]) in
            var changes = state.graph.stoppedWaiting(.thread(id))
            if let task {
                changes += state.graph.stoppedWaiting(.task(task))
                changes += state.graph.released(.thread(id), .execution(id))
            }
            state.awaits[id] = nil
            return (awaiting.takeRaises(), state.note(changes))
        }
        for level in ended { awaited.lowered(from: level) }
        for raise in raises { _ = raise.perform() }
        settleCallingThread(id)
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
