import QoSCore
package import QoSKernel

extension SchedulerCore {
    /// Gives the calling thread the kernel effects of a class (rule C6), and notes the kernel's answer.
    func applyEffects(of qosClass: QoSClass, threadName: String) {
        guard let profile = group.profile else { return }
        let applied = profile.applier.apply(qosClass)
        effects.withLock { effects in
            // A thread that stood in for a blocked one may come again.
            effects.removeAll { $0.threadName == threadName }
            effects.append(WorkerEffects(threadName: threadName, applied: applied))
        }
    }
}

/// The kernel's grants to a thread of the runtime.
package struct WorkerEffects: Sendable {
    /// The thread's name, as tools show it: `qos-bg-0`.
    package let threadName: String

    /// The effects that were requested, refused and read back.
    package let applied: AppliedEffects
}
