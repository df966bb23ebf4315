/// A call that a work queue, an item, a group or a source refuses.
public enum WorkQueueError: Error, Sendable, Hashable {
    /// A target that leads back to the queue. Holds the labels along the cycle, from the queue to itself (rule B3).
    case targetCycle([String])
    /// An attempt to set a target while the queue has work.
    case queueHasWork(String)
    /// An attempt to connect two queues of different schedulers.
    case otherScheduler(String)
    /// A synchronous submission that could never begin. The calling thread runs an item that it would have to wait for.
    case wouldDeadlock(String)
    /// A wait that could never end. The thread that would end it waits for the calling thread, directly or through
    /// others. Holds every wait of the circle, with its queue or lock and both threads (rule I5).
    case deadlock(waits: [String])
    /// A queue was resumed more often than suspended.
    case notSuspended(String)
    /// A call that global queues do not support: suspending one, or giving it a target.
    case globalQueue(String)
    /// An item was submitted a second time. It runs once (rule B4).
    case itemAlreadySubmitted
    /// A group was left more often than entered (rule B14).
    case unbalancedLeave
    /// A source could not be made. The text says what failed and what helps.
    case sourceUnavailable(String)
    /// A source was resumed more often than suspended.
    case sourceNotSuspended
    /// An attempt to schedule a source that is no timer.
    case sourceIsNoTimer
}

extension WorkQueueError: CustomStringConvertible {
    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .targetCycle(let labels):
            "the queues would target one another in a circle (\(labels.joined(separator: " → "))): "
                + "end the chain at a queue that targets none of them"
        case .queueHasWork(let label):
            "the target of queue '\(label)' cannot be changed while it has work: set it before the first submission"
        case .otherScheduler(let label):
            "queue '\(label)' belongs to another scheduler than its target: make both from the same one"
        case .wouldDeadlock(let label):
            "a synchronous submission would wait for ever, since the calling thread runs an item of queue '\(label)': "
                + "call the closure directly, or submit asynchronously"
        case .deadlock(let waits):
            "the wait would never end (\(waits.joined(separator: "; "))): submit asynchronously, or enter queues and locks in "
                + "one order everywhere"
        case .notSuspended(let label):
            "queue '\(label)' is not suspended: call resume() once for each suspend()"
        case .globalQueue(let label):
            "queue '\(label)' is a global one, which is shared: make a queue of your own that targets it"
        case .itemAlreadySubmitted:
            "the work item was submitted before and runs once: make a new item for each submission"
        case .unbalancedLeave:
            "the group was left more often than entered: call enter() before the work begins, leave() once when it has ended"
        case .sourceUnavailable(let text):
            "the event source could not be made: \(text)"
        case .sourceNotSuspended:
            "the source is not suspended: call resume() once for each suspend()"
        case .sourceIsNoTimer:
            "the source is no timer: schedule what makeTimer returned"
        }
    }
}
