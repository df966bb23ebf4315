import QoSCore
package import QoSKernel
import Synchronization

extension SchedulerCore {
    /// Gives the calling thread the kernel effects of a class (rule C6) and notes what came of it.
    func applyEffects(of qosClass: QoSClass, threadName: String) {
        guard let profile else { return }
        let applied = profile.applier.apply(qosClass)
        effects.withLock { $0.append(WorkerEffects(threadName: threadName, applied: applied)) }
    }

    /// Binds the calling worker of the highest class to a processor of its own.
    ///
    /// The kernel sometimes leaves two threads with short slices on one processor beside an idle one, and each job takes
    /// twice as long. Only where there is one worker for each processor: else the kernel knows better. A refusal leaves the
    /// worker where it may run already.
    func pin(worker index: Int, of qosClass: QoSClass) {
        guard qosClass == .userInteractive, configuration.processors == nil, let profile else { return }
        let processors = profile.processors.ids
        guard unsafe pools[qosClass.rank].width == processors.count, processors.count == width else { return }
        try? profile.calls.setAffinity(CPUSet([processors[index]]), of: .current)
    }
}

/// What the kernel gave a thread of the runtime.
package struct WorkerEffects: Sendable {
    /// The thread's name, as tools show it: `qos-bg-0`.
    package let threadName: String

    /// Asked, refused, read back.
    package let applied: AppliedEffects
}
