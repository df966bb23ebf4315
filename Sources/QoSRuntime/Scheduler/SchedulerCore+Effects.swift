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
}

/// What the kernel gave a thread of the runtime.
package struct WorkerEffects: Sendable {
    /// The thread's name, as tools show it: `qos-bg-0`.
    package let threadName: String

    /// Asked, refused, read back.
    package let applied: AppliedEffects
}
