import QoSCore
package import QoSKernel
import Synchronization

extension SchedulerCore {
    /// Gives the calling thread the kernel effects of a class (rule C6) and notes what came of it.
    func applyEffects(of qosClass: QoSClass, threadName: String) {
        guard let profile else { return }
        let applied = profile.applier.apply(qosClass)
        effects.withLock { effects in
            // A thread that stood in for a blocked one may come again.
            effects.removeAll { $0.threadName == threadName }
            effects.append(WorkerEffects(threadName: threadName, applied: applied))
        }
    }

    /// A worker stands aside for classes that were kept off the processors for too long: their threads are bound to the
    /// processor that becomes free.
    ///
    /// Else they may go on standing behind the busy one, in its own queue, where the kernel leaves them for as long as its
    /// balancing takes; by then the window is over.
    func lendProcessor(rank: Int) {
        var starving = admission.openWindows
        guard let profile, !starving.isEmpty, let processor = Topology.currentProcessor() else { return }
        while let qosClass = starving.popHighest() {
            if qosClass.rank < rank { lend(processor, to: qosClass.rank, by: profile) }
        }
    }

    private func lend(_ processor: Int, to rank: Int, by profile: KernelProfile) {
        let bit = UInt8(1) << UInt8(rank)
        lentTo.bitwiseOr(bit, ordering: .sequentiallyConsistent)
        bind(workersOf: rank, to: CPUSet([processor]), by: profile)
        // Whoever took it back meanwhile may have done so before the threads were bound.
        if lentTo.load(ordering: .sequentiallyConsistent) & bit == 0 {
            bind(workersOf: rank, to: processors.withLock { $0 }, by: profile)
        }
    }

    /// Lets the threads of classes whose window is over run wherever the process may.
    @inline(__always)
    func takeBackProcessors() {
        let lent = lentTo.load(ordering: .relaxed)
        if lent != 0 { takeBack(QoSClassSet(rawValue: lent).subtracting(admission.openWindows)) }
    }

    private func takeBack(_ classes: QoSClassSet) {
        guard let profile else { return }
        var classes = classes
        while let qosClass = classes.popHighest() {
            let bit = UInt8(1) << UInt8(qosClass.rank)
            let (before, _) = lentTo.bitwiseAnd(~bit, ordering: .sequentiallyConsistent)
            if before & bit != 0 { bind(workersOf: qosClass.rank, to: processors.withLock { $0 }, by: profile) }
        }
    }

    /// A thread that has just ended, or may not be bound, stays as it is: the kernel's balancing does the rest.
    private func bind(workersOf rank: Int, to processors: CPUSet, by profile: KernelProfile) {
        let started = unsafe pools[rank].started
        for index in 0..<started {
            let thread = unsafe pools[rank].workers[index].threadID.load(ordering: .relaxed)
            if thread != 0 { try? profile.calls.setAffinity(processors, of: ThreadID(rawValue: thread)) }
        }
    }

    /// Binds the calling worker of the highest class to a processor of its own.
    ///
    /// The kernel sometimes leaves two threads with short slices on one processor beside an idle one, and each job takes
    /// twice as long. Only where there is one worker for each processor: else the kernel knows better. A refusal leaves the
    /// worker where it may run already.
    func pin(worker index: Int, of qosClass: QoSClass) {
        guard qosClass == .userInteractive, let profile, let processor = ownProcessor(ofWorker: index) else { return }
        try? profile.calls.setAffinity(CPUSet([processor]), of: .current)
    }

    /// The processor that is a worker's own, in the highest class; `nil` where there is not one for each.
    func ownProcessor(ofWorker index: Int) -> Int? {
        guard configuration.processors == nil, profile != nil else { return nil }
        let ids = processors.withLock { $0 }.ids
        let width = self.width
        guard unsafe pools[QoSClass.userInteractive.rank].width == ids.count, ids.count == width, index < width else {
            return nil
        }
        return ids[index]
    }
}

/// What the kernel gave a thread of the runtime.
package struct WorkerEffects: Sendable {
    /// The thread's name, as tools show it: `qos-bg-0`.
    package let threadName: String

    /// Asked, refused, read back.
    package let applied: AppliedEffects
}
