import QoSCore

/// What a job was given to: as much of an executor as timers, and questions about the calling task, have to know.
// SAFETY: nothing in it changes.
class JobReceiver: @unchecked Sendable {
    /// The class of an executor for one class; `nil` for one that goes by priority.
    final let qosClass: QoSClass?

    init(qosClass: QoSClass?) {
        self.qosClass = qosClass
    }

    /// Queues a job.
    func enqueue(_ job: UnownedJob) {}
}
