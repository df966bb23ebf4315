import QoSCore
import QoSKernel
import Synchronization

/// The raise of a thread for its locks and for the items of work queues that it runs, and the applied scheduling.
///
/// The target for locks is set under the lock of the thread's shard in ``LockRegistry``. An item knows its own level.
/// The kernel is asked outside of the locks of registry and queues: by a waiter, to raise, and by the thread itself, to
/// take back. Both do so under `state`, and read the target and the item in there. So a late raise finds neither, and a
/// timely one ends before the thread goes on.
///  `state` is held over system calls of some microseconds. Only this thread and its raisers ever wait for it.
final class ThreadRaise: Sendable {
    private struct Applied {
        let qosClass: QoSClass
        /// The thread's previous scheduling; `nil` when its scheduler raised a worker.
        let saved: Scheduling?
    }

    private struct State {
        var applied: Applied?
        /// The items above the thread that it runs, with their classes. Not for workers: the loop looks at them.
        var items: [(item: ObjectIdentifier, qosClass: QoSClass)] = []
        /// Whether the registry has forgotten this object. Another one stands for the thread now.
        var isRetired = false
    }

    private typealias Wakes = @Sendable () -> Void

    let id: UInt32

    /// The rank of the class to raise to, plus 1; 0 for none.
    private let target = Atomic<UInt8>(0)
    private let state = Lock(State())

    init(id: UInt32) {
        self.id = id
    }

    /// The class to which locks raise the thread; `nil` for none. Set under the lock of the thread's shard.
    var targetClass: QoSClass? {
        get { QoSClass(rank: Int(target.load(ordering: .acquiring)) - 1) }
        set { target.store(UInt8((newValue?.rank ?? -1) + 1), ordering: .releasing) }
    }

    /// The class to which the thread was raised.
    var raisedClass: QoSClass? { state.withLock { $0.applied?.qosClass } }

    /// Raises the thread to its target. Any thread.
    ///
    /// - Parameter lock: the name of the lock for which the calling thread or task waits, for the observer.
    /// - Returns: the reason why that was not possible; `nil` when it was, or was not necessary.
    func raise(for lock: String? = nil) -> String? {
        let (failure, wakes) = state.withLock { apply(&$0, for: lock) }
        wakes?()
        return failure
    }

    /// Takes back raises that are no longer demanded. On the thread itself.
    func settle() {
        let wakes = state.withLock { takeBack(&$0) }
        wakes?()
    }

    /// Changes the thread's own scheduling while no raise is on top of it. On the thread itself.
    ///
    /// - Returns: `false` when another object stands for the thread by now. Nothing has changed then.
    func changingOwn(_ change: () -> Void) -> Bool {
        let (isChanged, wakes) = state.withLock { state -> (Bool, Wakes?) in
            if state.isRetired { return (false, nil) }
            if let present = state.applied { undo(present) }
            state.applied = nil
            change()
            return (true, apply(&state).1)
        }
        wakes?()
        return isChanged
    }

    // MARK: Items

    /// The result of a look at an item.
    enum ItemOutcome {
        case done
        case failed(String)
        /// Another object stands for the thread by now.
        case retired
    }

    /// Raises the thread to the level of an item that it runs. Any thread; the item is alive.
    func adjust(for item: PoolEntry) -> ItemOutcome {
        state.withLock { state -> ItemOutcome in
            if state.isRetired { return .retired }
            // Set before the check that the item runs: the thread reads the mark after it has noted the item's end.
            item.threadMayBeRaised.store(true, ordering: .sequentiallyConsistent)
            guard item.plainRunner == id else { return .done }
            let item = (item: ObjectIdentifier(item), qosClass: QoSClass(atRank: item.effective.rank))
            state.items.removeAll { $0.item == item.item }
            state.items.append(item)
            if let present = state.applied, present.saved != nil { lower(present, &state) }
            return apply(&state).0.map { .failed($0) } ?? .done
        }
    }

    /// Ends the raise for an item that the thread ran. On the thread itself.
    func ended(_ item: PoolEntry) {
        state.withLock { state in
            item.threadMayBeRaised.store(false, ordering: .sequentiallyConsistent)
            state.items.removeAll { $0.item == ObjectIdentifier(item) }
            _ = takeBack(&state)
        }
    }

    /// Retires the object if there is no raise for the thread and no thread looks at it. Under the lock of the thread's
    /// shard.
    func retireIfIdle() -> Bool {
        state.withLockIfAvailable { state in
            guard state.applied == nil, state.items.isEmpty else { return false }
            state.isRetired = true
            return true
        } ?? false
    }

    // MARK: Under the lock

    private func wanted(_ state: borrowing State) -> QoSClass? {
        var wanted = targetClass
        for item in state.items { wanted = wanted.map { max($0, item.qosClass) } ?? item.qosClass }
        return wanted
    }

    private func takeBack(_ state: inout State) -> Wakes? {
        guard let present = state.applied else { return nil }
        guard lower(present, &state) else { return nil }
        return apply(&state).1
    }

    /// - Returns: whether the demanded level is lower than the applied one, which is then undone.
    @discardableResult
    private func lower(_ present: Applied, _ state: inout State) -> Bool {
        guard wanted(state).map({ $0 < present.qosClass }) ?? true else { return false }
        undo(present)
        state.applied = nil
        return true
    }

    private func apply(_ state: inout State, for lock: String? = nil) -> (String?, Wakes?) {
        guard let wanted = wanted(state), state.applied.map({ $0.qosClass < wanted }) ?? true else { return (nil, nil) }
        let entry = ThreadTable[id]
        if let own = entry?.ownClass, own >= wanted { return (nil, nil) }
        if let worker = entry?.worker {
            let group = worker.group
            let (promotion, identity) = (group.raiseHolder(worker, to: wanted), worker.value.identity)
            state.applied = Applied(qosClass: wanted, saved: nil)
            return (
                nil, { group.settle(promotion, of: identity, .lock(waiter: LockParticipant.nameOfCaller, name: lock)) }
            )
        }
        let failure = renice(to: wanted, &state.applied)
        if failure != nil { ThreadRaiseCounts.refused.add(1, ordering: .relaxed) }
        return (failure, nil)
    }

    /// Raises a thread that is no worker, if the kernel allows taking that back.
    private func renice(to wanted: QoSClass, _ applied: inout Applied?) -> String? {
        let profile = LockKernel.profile
        let mode = profile.capabilities.mode
        let thread = ThreadID(rawValue: Int32(bitPattern: id))
        let effects = ClassEffects(wanted, mode: mode, spread: profile.scope.spread)
        do throws(KernelError) {
            let present = try scheduling(of: thread, applied, profile)
            // The thread is above all classes, or as high as the raise would make it.
            guard present.policy.isFair || present.policy == .idle else { return nil }
            if present.policy.isFair, present.nice <= effects.scheduling.nice { return nil }
            guard mode == .privileged || mode == .reversible else {
                return "the kernel lets this process raise no running thread (\(mode)). \(mode.improvement ?? "")"
            }
            let isFirst = applied?.saved == nil
            if isFirst { LibraryThreads.noteRaised(true, thread) }
            do throws(KernelError) {
                try profile.calls.setScheduling(effects.scheduling, of: thread)
            } catch {
                if isFirst { LibraryThreads.noteRaised(false, thread) }
                throw error
            }
            applied = Applied(qosClass: wanted, saved: present)
            ThreadRaiseCounts.raised.add(1, ordering: .relaxed)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Returns the thread's scheduling without any raise.
    private func scheduling(
        of thread: ThreadID, _ applied: Applied?, _ profile: KernelProfile
    ) throws(KernelError) -> Scheduling {
        if let saved = applied?.saved { return saved }
        return try profile.calls.scheduling(of: thread)
    }

    private func undo(_ present: Applied) {
        if let saved = present.saved {
            let thread = ThreadID(rawValue: Int32(bitPattern: id))
            defer { LibraryThreads.noteRaised(false, thread) }
            // The calls that raised the thread also lower it. If they failed, the thread would stay raised, and work.
            let calls = LockKernel.profile.calls
            do throws(KernelError) {
                // Under a policy that is not fair the kernel would leave the nice value as it is.
                if !saved.policy.isFair {
                    try calls.setScheduling(Scheduling(policy: .other, nice: saved.nice), of: thread)
                }
                try calls.setScheduling(saved, of: thread)
            } catch {
                ThreadRaiseCounts.notTakenBack.add(1, ordering: .relaxed)
            }
        } else if let worker = Worker.current {
            worker.group.endRaiseOfHolder(worker)
        }
    }
}

/// The kernel access of locks and of threads outside of schedulers.
enum LockKernel {
    private static let replaced = Lock<KernelProfile?>(nil)

    /// The process's profile, unless a test has replaced it.
    static var profile: KernelProfile { replaced.withLock { $0 } ?? .process }

    /// Replaces the process's profile; `nil` takes that back.
    static func replace(with profile: KernelProfile?) {
        replaced.withLock { $0 = profile }
    }
}

/// The counters of ``ThreadRaises``, of the whole process: locks and threads belong to no scheduler.
enum ThreadRaiseCounts {
    static let raised = Atomic<UInt64>(0)
    static let refused = Atomic<UInt64>(0)
    static let notTakenBack = Atomic<UInt64>(0)
}
