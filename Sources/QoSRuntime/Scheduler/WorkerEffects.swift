public import QoSCore
import QoSKernel
import Synchronization

/// What the kernel gave a thread of the runtime.
public struct WorkerEffects: Sendable, Hashable {
    /// The thread's name, as tools show it: `qos-bg-0`.
    public let threadName: String

    /// The class whose effects were applied.
    public let qosClass: QoSClass
}

extension SchedulerCore {
    /// Gives the calling thread the kernel effects of a class (rule C6) and notes what came of it.
    func applyEffects(of qosClass: QoSClass, threadName: String) {
        guard configuration.appliesKernelEffects else { return }
        effects.withLock { $0.append(WorkerEffects(threadName: threadName, qosClass: qosClass)) }
    }
}
