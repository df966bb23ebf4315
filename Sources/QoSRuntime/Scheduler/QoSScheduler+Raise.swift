public import QoSCore

extension QoSScheduler {
    /// Raises a task, whether it waits or runs, to a class at least (rule I4); never lowers it.
    ///
    /// The same as when a task of that class awaited it: its child tasks follow, what it submits from then on goes to the pool
    /// of the class, and it is moved or raised as soon as the scheduler's loop has looked, within some milliseconds.
    ///
    /// Any thread.
    public func raise<Success, Failure: Error>(_ task: Task<Success, Failure>, to qosClass: QoSClass) {
        task.escalatePriority(to: TaskPriority(qosClass))
        core.noteBacklog()
    }
}
