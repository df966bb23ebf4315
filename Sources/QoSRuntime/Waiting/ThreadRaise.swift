import QoSCore
import QoSKernel
import Synchronization

/// How far a thread is raised because of locks that it holds and items of work queues that it runs, and what was done for that.
///
/// The target of locks is set under the lock of the thread's shard in ``LockRegistry``; what an item is raised to, the item knows. The kernel is asked
/// outside of the locks of registry and queues: by whoever waits, to raise, and by the thread itself, to take back. Both do so under
/// `state`, and look at the target and at the item in there. So a raise that comes late finds neither, and one that comes in time ends
/// before the thread gets on. `state` is held over system calls of some microseconds; only who raises this thread, and the thread
/// itself, ever wait for it.
final class ThreadRaise: Sendable {
    private struct Applied {
        let qosClass: QoSClass
        /// What the thread's scheduling was; `nil` when a worker was raised by its scheduler.
        let saved: Scheduling?
    }

    private struct State {
        var applied: Applied?
        /// The items that the thread runs and that are above it, with their classes; not of workers, at which the loop looks.
        var items: [(item: ObjectIdentifier, qosClass: QoSClass)] = []
        /// Whether the registry has forgotten it: another one stands for the thread now.
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

    /// The class to raise the thread to because of locks; `nil` for none. Set under the lock of the thread's shard.
    var targetClass: QoSClass? {
        get { QoSClass(rank: Int(target.load(ordering: .acquiring)) - 1) }
        set { target.store(UInt8((newValue?.rank ?? -1) + 1), ordering: .releasing) }
    }

    /// The class that the thread was raised to.
    var raisedClass: QoSClass? { state.withLock { $0.applied?.qosClass } }

    /// Raises the thread to its target. Any thread.
    ///
    /// - Returns: why that could not be done; `nil` when it was, or was not necessary.
    func raise() -> String? {
        let (failure, wakes) = state.withLock { apply(&$0) }
        wakes?()
        return failure
    }

    /// Takes back what is no longer wanted. The thread itself.
    func settle() {
        let wakes = state.withLock { takeBack(&$0) }
        wakes?()
    }

    /// Changes the thread's own scheduling while nothing is on top of it. The thread itself.
    func changingOwn(_ change: () -> Void) {
        let wakes = state.withLock { state -> Wakes? in
            if let present = state.applied { undo(present) }
            state.applied = nil
            change()
            return apply(&state).1
        }
        wakes?()
    }

    // MARK: Items

    /// What became of a look at an item.
    enum ItemOutcome {
        case done
        case failed(String)
        /// Another object stands for the thread by now.
        case retired
    }

    /// Brings the thread to what an item demands that it runs. Any thread; the item is alive.
    func adjust(for item: PoolEntry) -> ItemOutcome {
        state.withLock { state -> ItemOutcome in
            if state.isRetired { return .retired }
            // Before the look whether it runs: the thread looks at the mark after it has said that the item has ended.
            item.threadMayBeRaised.store(true, ordering: .sequentiallyConsistent)
            guard item.plainRunner == id else { return .done }
            let item = (item: ObjectIdentifier(item), qosClass: QoSClass(atRank: item.effective.rank))
            state.items.removeAll { $0.item == item.item }
            state.items.append(item)
            if let present = state.applied, present.saved != nil { lower(present, &state) }
            return apply(&state).0.map { .failed($0) } ?? .done
        }
    }

    /// An item has ended that the thread ran. The thread itself.
    func ended(_ item: PoolEntry) {
        state.withLock { state in
            item.threadMayBeRaised.store(false, ordering: .sequentiallyConsistent)
            state.items.removeAll { $0.item == ObjectIdentifier(item) }
            _ = takeBack(&state)
        }
    }

    /// Ends it if nothing is done for the thread and nobody looks at it. Under the lock of the thread's shard.
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

    /// - Returns: whether less is wanted than was done, which is undone then.
    @discardableResult
    private func lower(_ present: Applied, _ state: inout State) -> Bool {
        guard wanted(state).map({ $0 < present.qosClass }) ?? true else { return false }
        undo(present)
        state.applied = nil
        return true
    }

    private func apply(_ state: inout State) -> (String?, Wakes?) {
        guard let wanted = wanted(state), state.applied.map({ $0.qosClass < wanted }) ?? true else { return (nil, nil) }
        let entry = ThreadTable[id]
        if let own = entry?.ownClass, own >= wanted { return (nil, nil) }
        if let worker = unsafe entry?.worker {
            let group = unsafe worker.pointee.pool.pointee.group
            let (promotion, identity) = unsafe (group.raiseHolder(worker, to: wanted), worker.pointee.identity)
            state.applied = Applied(qosClass: wanted, saved: nil)
            return (nil, { group.settle(promotion, of: identity, .lock(waiter: LockParty.callingThread.name)) })
        }
        let failure = renice(to: wanted, &state.applied)
        if failure != nil { ThreadRaiseCounts.refused.add(1, ordering: .relaxed) }
        return (failure, nil)
    }

    /// Raises a thread that is no worker, where the kernel allows to take that back.
    private func renice(to wanted: QoSClass, _ applied: inout Applied?) -> String? {
        let profile = LockKernel.profile
        let mode = profile.capabilities.mode
        let thread = ThreadID(rawValue: Int32(bitPattern: id))
        let effects = ClassEffects(wanted, mode: mode, spread: profile.scope.spread)
        do throws(KernelError) {
            let present = try scheduling(of: thread, applied, profile)
            // Above all classes, or as high as it would get.
            guard present.policy.isFair || present.policy == .idle else { return nil }
            if present.policy.isFair, present.nice <= effects.scheduling.nice { return nil }
            guard mode == .privileged || mode == .reversible else {
                return "the kernel lets this process raise no running thread (\(mode)). \(mode.improvement ?? "")"
            }
            try profile.calls.setScheduling(effects.scheduling, of: thread)
            applied = Applied(qosClass: wanted, saved: present)
            ThreadRaiseCounts.raised.add(1, ordering: .relaxed)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// What the thread has without any raise.
    private func scheduling(
        of thread: ThreadID, _ applied: Applied?, _ profile: KernelProfile
    ) throws(KernelError) -> Scheduling {
        if let saved = applied?.saved { return saved }
        return try profile.calls.scheduling(of: thread)
    }

    private func undo(_ present: Applied) {
        if let saved = present.saved {
            // What raised the thread also lowers it; were it refused, the thread would stay raised, and work.
            let thread = ThreadID(rawValue: Int32(bitPattern: id))
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
        } else if let worker = unsafe Worker.current {
            unsafe worker.pointee.pool.pointee.group.endRaiseOfHolder(worker)
        }
    }
}

/// How locks and threads outside of schedulers ask the kernel.
enum LockKernel {
    private static let replaced = Lock<KernelProfile?>(nil)

    /// The process's, unless a test has put another one in its place.
    static var profile: KernelProfile { replaced.withLock { $0 } ?? .process }

    /// Puts another profile in the place of the process's; `nil` takes it back.
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
