import QoSCore

/// The receiver of a job: the part of an executor that timers, and questions about the calling task, need to know.
// SAFETY: none of its state changes.
class JobReceiver: @unchecked Sendable {
    /// The class of an executor for one class; `nil` for one that follows each job's priority.
    final let qosClass: QoSClass?

    init(qosClass: QoSClass?) {
        self.qosClass = qosClass
    }

    /// Queues a job. A subclass overrides it: else the job would be lost.
    func enqueue(_ job: UnownedJob) { preconditionFailure("an executor queues its jobs itself") }
}
