import QoSCore
import QoSKernel
import Synchronization

/// How far a thread is raised because of locks that it holds, and what was done for that.
///
/// The target is set under the lock of ``LockRegistry``, the kernel is asked outside of it: by whoever waits, to raise, and by the
/// thread itself, to take back. Both do so under `applied`, and look at the target in there. So a raise that comes late finds no
/// target, and one that comes in time ends before the thread gets on. `applied` is held over system calls of some microseconds;
/// only who raises this thread, and the thread itself, ever wait for it.
final class ThreadRaise: Sendable {
    private struct Applied {
        let qosClass: QoSClass
        /// What the thread's scheduling was; `nil` when a worker was raised by its scheduler.
        let saved: Scheduling?
    }

    private typealias Wakes = @Sendable () -> Void

    let id: UInt32

    /// The rank of the class to raise to, plus 1; 0 for none.
    private let target = Atomic<UInt8>(0)
    private let applied = Lock<Applied?>(nil)

    init(id: UInt32) {
        self.id = id
    }

    /// The class to raise the thread to; `nil` for none. Set under the registry's lock.
    var targetClass: QoSClass? {
        get { QoSClass(rank: Int(target.load(ordering: .acquiring)) - 1) }
        set { target.store(UInt8((newValue?.rank ?? -1) + 1), ordering: .releasing) }
    }

    /// The class that the thread was raised to.
    var raisedClass: QoSClass? { applied.withLock { $0?.qosClass } }

    /// Raises the thread to its target. Any thread.
    ///
    /// - Returns: why that could not be done; `nil` when it was, or was not necessary.
    func raise() -> String? {
        let (failure, wakes) = applied.withLock { apply(&$0) }
        wakes?()
        return failure
    }

    /// Takes back what is no longer wanted. The thread itself.
    func settle() {
        let wakes = applied.withLock { applied -> Wakes? in
            guard let present = applied, targetClass.map({ $0 < present.qosClass }) ?? true else { return nil }
            undo(present)
            applied = nil
            return apply(&applied).1
        }
        wakes?()
    }

    /// Changes the thread's own scheduling while nothing is on top of it. The thread itself.
    func changingOwn(_ change: () -> Void) {
        let wakes = applied.withLock { applied -> Wakes? in
            if let present = applied { undo(present) }
            applied = nil
            change()
            return apply(&applied).1
        }
        wakes?()
    }

    private func apply(_ applied: inout Applied?) -> (String?, Wakes?) {
        guard let wanted = targetClass, applied.map({ $0.qosClass < wanted }) ?? true else { return (nil, nil) }
        let entry = ThreadTable[id]
        if let own = entry?.ownClass, own >= wanted { return (nil, nil) }
        if let worker = unsafe entry?.worker {
            let core = unsafe worker.pointee.pool.pointee.core
            let admitted = unsafe core.raiseHolder(worker, to: wanted)
            applied = Applied(qosClass: wanted, saved: nil)
            return (nil, { core.wake(admitted) })
        }
        return (renice(to: wanted, &applied), nil)
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
            try? LockKernel.profile.calls.setScheduling(saved, of: .current)
        } else if let worker = unsafe Worker.current {
            unsafe worker.pointee.pool.pointee.core.endRaiseOfHolder(worker)
        }
    }
}
