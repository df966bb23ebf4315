import CQoSShims
import QoSCore
import QoSKernel
public import Synchronization

/// The word of a ``QoSMutex`` and what happens when it is contended (`Docs/Protocols/locks.md`).
///
/// 0 is free; else the kernel's id of the holder's thread times two, plus 1 when somebody waits. The uncontended operations are one
/// compare-and-swap each. With the last bit set, the word changes under the registry's lock only: the holder cannot give the mutex
/// back behind the back of somebody who enters himself as waiting for it.
@usableFromInline
enum MutexWaiting {
    /// How often a contended word is looked at before the thread sleeps: about as long as a sleep and a wake-up would cost.
    private static let spins = 100

    private enum Entry {
        case acquired
        case refused(LockRegistry.Cycle)
        case waits(LockParty, [LockRaise], isBeyondDepth: Bool)
    }

    /// What the calling thread writes into a word.
    @usableFromInline @inline(never)
    static func ownWord() -> UInt32 { cqos_own_id() << 1 }

    /// Gets the mutex, after the compare-and-swap has failed, however long that takes.
    @usableFromInline @inline(never)
    static func lockForEver(_ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32, name: String?) {
        // Nothing is refused, so nothing is thrown.
        try? unsafe lock(word, own: own, name: name, refusesCycle: false)
    }

    /// Gets the mutex, after the compare-and-swap has failed.
    ///
    /// - Parameter refusesCycle: whether a wait that could never end is refused; if not, it is reported and never ends.
    static func lock(
        _ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32, name: String?, refusesCycle: Bool
    ) throws(LockError) {
        if unsafe spin(word, own: own) { return }
        let waiter = LockWaiter(
            party: .thread(own >> 1), name: nil, level: QoS.currentLevel,
            lockName: name.map { "mutex '\($0)'" } ?? "a mutex without a name")
        let wait = LockWait(task: ConcurrencyRuntime.currentTask, lockName: waiter.lockName)
        var entry = unsafe enter(word, own: own, level: waiter.level, wait, refusesCycle: true)
        if case .refused(let cycle) = entry {
            let error = waiter.refusedLock(by: cycle)
            if refusesCycle { throw error }
            entry = unsafe enter(word, own: own, level: waiter.level, wait, refusesCycle: false)
        }
        guard case .waits(let holder, let raises, let isBeyondDepth) = entry else { return }
        waiter.perform(raises)
        if isBeyondDepth {
            waiter.report(
                .unresolvedInversion, holder: holder,
                "the chain of locks is too long to be raised: hold fewer locks at a time")
        }
        if unsafe Worker.current != nil {
            waiter.report(
                .blockedPoolThread, holder: holder,
                "a thread of a pool sleeps in a lock: wait with AsyncMutex, or hold the lock for less long")
        }
        wait.parker.park()
        LockRegistry.shared.settleCallingThread(own >> 1)
    }

    /// Gives the mutex back, after the compare-and-swap has failed: somebody waits, the highest gets it.
    @usableFromInline @inline(never)
    static func unlock(_ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32) {
        let resource = unsafe resource(word)
        let (next, raises) = LockRegistry.shared.state.withLock { state -> (LockWait?, [LockRaise]) in
            var (next, changes) = state.graph.handedOver(resource, from: .thread(own >> 1))
            guard case .thread(let id)? = next, let wait = state.sleepers.removeValue(forKey: id) else {
                unsafe word.pointee.store(0, ordering: .releasing)
                return (nil, state.note(changes))
            }
            if let task = wait.task {
                changes += state.graph.stoppedWaiting(.task(task))
                changes += state.graph.released(.thread(id), .execution(id))
            }
            let isContended = !state.graph.waiters(for: resource).isEmpty
            // Whom nobody waits for, the graph need not know.
            if !isContended { changes += state.graph.released(.thread(id), resource) }
            unsafe word.pointee.store(id << 1 | (isContended ? 1 : 0), ordering: .releasing)
            return (wait, state.note(changes))
        }
        next?.parker.unpark()
        // Of the holders that are told again, those that cannot be raised were reported when the wait began.
        for raise in raises { _ = raise.perform() }
        LockRegistry.shared.settleCallingThread(own >> 1)
    }

    private static func spin(_ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32) -> Bool {
        for _ in 0..<spins {
            let seen = unsafe word.pointee.load(ordering: .relaxed)
            if seen == 0,
                unsafe word.pointee.compareExchange(expected: 0, desired: own, ordering: .acquiring).exchanged
            {
                return true
            }
            // Who waits already comes first; who holds it himself would spin for nothing.
            if seen & 1 != 0 || seen == own { return false }
            cqos_spin_hint()
        }
        return false
    }

    /// Gets the mutex if it is free by now, else enters the calling thread as waiting.
    private static func enter(
        _ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32, level: QoSLevel?, _ wait: LockWait,
        refusesCycle: Bool
    ) -> Entry {
        let id = own >> 1
        let resource = unsafe resource(word)
        return LockRegistry.shared.state.withLock { state -> Entry in
            guard let owner = unsafe markContended(word, own: own) else { return .acquired }
            let holder = LockParty.thread(owner)
            var changes: [WaitRaise<LockParty>] = []
            if state.graph.holders(of: resource).isEmpty { changes += state.graph.acquired(holder, resource) }
            let outcome: WaitOutcome<LockParty>
            let awaits = state.awaits
            do throws(LockRegistry.Cycle) {
                outcome = try state.graph.waits(
                    .thread(id), at: level, for: resource, refusesCycle: refusesCycle,
                    blockers: { awaits.blockers(of: $0) })
            } catch {
                // The bit stays: the holder finds nobody when it gives the mutex back.
                return .refused(error)
            }
            changes += outcome.raises
            state.sleepers[id] = wait
            if let task = wait.task {
                // Whoever waits for something that the task holds, raises the thread that it runs on.
                changes += state.graph.acquired(.thread(id), .execution(id))
                let execution = try? state.graph.waits(
                    .task(task), at: level, for: .execution(id), refusesCycle: false)
                changes += execution?.raises ?? []
            }
            return .waits(holder, state.note(changes), isBeyondDepth: outcome.isBeyondDepth)
        }
    }

    /// Sets the last bit, so that the mutex is given back under the registry's lock; `nil` when it was free and is ours now.
    private static func markContended(_ word: UnsafeMutablePointer<Atomic<UInt32>>, own: UInt32) -> UInt32? {
        var seen = unsafe word.pointee.load(ordering: .relaxed)
        while seen & 1 == 0 {
            let (exchanged, original) = unsafe word.pointee.compareExchange(
                expected: seen, desired: seen == 0 ? own : seen | 1, ordering: .acquiring)
            if exchanged { return seen == 0 ? nil : seen >> 1 }
            seen = original
        }
        return seen >> 1
    }

    private static func resource(_ word: UnsafeMutablePointer<Atomic<UInt32>>) -> LockResource {
        .lock(UInt(bitPattern: word))
    }
}
