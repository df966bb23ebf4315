import QoSCore
import QoSKernel

/// Everybody who waits for a lock of ours, in the whole process, and for whom.
///
/// Entered by those who are about to wait and by those who have somebody waiting for them; who finds a lock free never comes here.
/// There is one, and not one for each lock, because a raise goes along chains of locks (`Docs/Protocols/locks.md`).
///
/// Threading: any thread. Nobody is woken, raised or reported under the lock: the methods return what is to be done afterwards.
final class LockRegistry: Sendable {
    static let shared = LockRegistry()

    typealias Graph = WaitGraph<LockParty, LockResource>
    typealias Cycle = WaitCycle<LockParty, LockResource>

    struct State {
        var graph = Graph()
        /// The threads that sleep until they are handed a mutex.
        var sleepers: [UInt32: LockWait] = [:]
        /// What the threads wait for that sleep until something ends that is no lock.
        var awaits: [UInt32: ThreadAwaiting] = [:]
        /// The threads that are raised, or are about to be.
        var raises: [UInt32: ThreadRaise] = [:]

        /// Notes the targets of threads, and says what has to be done outside of the lock.
        mutating func note(_ changes: [WaitRaise<LockParty>]) -> [LockRaise] {
            changes.compactMap { change in
                switch change.party {
                case .thread(let id):
                    guard change.level != nil || raises[id] != nil else { return nil }
                    let raise = raises[id] ?? ThreadRaise(id: id)
                    raises[id] = raise
                    raise.targetClass = change.level?.qosClass
                    // The thread takes back by itself.
                    guard let level = change.level else { return nil }
                    guard let awaiting = awaits[id] else {
                        return LockRaise(party: change.party, means: .thread(raise))
                    }
                    awaiting.note(LevelCode(level))
                    return LockRaise(party: change.party, means: .awaited(raise, awaiting, LevelCode(level)))
                case .task(let task):
                    // A task's priority cannot be taken back.
                    guard let level = change.level else {
                        RaisedTasks.remove(task)
                        return nil
                    }
                    let isRetained = ConcurrencyRuntime.retain(task)
                    if isRetained, let base = ConcurrencyRuntime.baseClass(of: task), base >= level.qosClass {
                        RaisedTasks.raise(task, to: level.qosClass)
                    }
                    return LockRaise(
                        party: change.party, means: isRetained ? .task(task, level.qosClass) : .impossible)
                }
            }
        }

        /// What a party waits for is called; `nil` where that is not known.
        func nameOfResource(awaitedBy party: LockParty) -> String? {
            guard case .thread(let id) = party else { return nil }
            return awaits[id]?.awaited.awaitedName ?? sleepers[id]?.lockName
        }
    }

    let state = Lock(State())

    /// Takes back what was done for the calling thread and is no longer wanted: after it gave back a lock, or got one.
    func settleCallingThread(_ id: UInt32) {
        guard let raise = raise(ofThread: id) else { return }
        raise.settle()
        tidy(raise)
    }

    /// Forgets a thread that is not raised any more, unless somebody is about to look at it, who does this afterwards.
    ///
    /// It may have been forgotten already, and another object stand for the thread: that one stays, its raise is to be taken back.
    func tidy(_ raise: ThreadRaise) {
        state.withLock { state in
            guard state.raises[raise.id] === raise, raise.targetClass == nil, raise.retireIfIdle() else { return }
            state.raises[raise.id] = nil
        }
    }

    /// What raises a thread, made if there is none; it may be retired by the time it is used.
    func raiseOrNew(ofThread id: UInt32) -> ThreadRaise {
        state.withLock { state in
            if let raise = state.raises[id] { return raise }
            let raise = ThreadRaise(id: id)
            state.raises[id] = raise
            return raise
        }
    }

    /// What a party waits for is called; `nil` where that is not known.
    func nameOfResource(awaitedBy party: LockParty) -> String? {
        state.withLock { $0.nameOfResource(awaitedBy: party) }
    }

    /// Whether and how a thread is raised.
    func raise(ofThread id: UInt32) -> ThreadRaise? {
        state.withLock { $0.raises[id] }
    }
}

extension [UInt32: ThreadAwaiting] {
    /// Who has to get on before something ends of which the graph knows no holder.
    func blockers(of resource: LockResource) -> [LockParty] {
        guard case .awaited(let id) = resource else { return [] }
        return self[id]?.awaited.blockers.map { .thread($0) } ?? []
    }
}

/// A thread that sleeps until it is handed a mutex.
final class LockWait: Sendable {
    let parker = Parker()

    /// The task that the thread runs meanwhile.
    let task: TaskAddress?

    /// What the lock is called.
    let lockName: String

    init(task: TaskAddress?, lockName: String) {
        self.task = task
        self.lockName = lockName
    }
}
