import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport

extension QoSSerialExecutor {
    /// Adds a job of a class that runs a body; the job is in the queue afterwards.
    func add(_ qosClass: QoSClass, _ body: @escaping @Sendable () -> Void) {
        enqueue(_swift_createJobForTestingOnly(priority: qosClass.taskPriority, body))
    }

    /// Adds a job that adds itself again and again.
    func addForEver(_ qosClass: QoSClass, until stop: Gate, then: @escaping @Sendable () -> Void) {
        add(qosClass) { [self] in
            if stop.isOpen { then() } else { addForEver(qosClass, until: stop, then: then) }
        }
    }
}
