public import QoSCore
import Synchronization

extension QoSScheduler {
    /// Raises a task, whether it waits or runs, to a class at least (rule I4); never lowers it.
    ///
    /// The same as when a task of that class awaited it: its child tasks follow, and what it submits from then on goes to the pool of
    /// the class. If it waits in one of this scheduler's queues, it is moved at once, in constant time; if it runs, its
    /// worker is raised as soon as the loop has looked, within a millisecond or so; a raised child is found by the same look.
    ///
    /// Any thread.
    public func raise<Success, Failure: Error>(_ task: Task<Success, Failure>, to qosClass: QoSClass) {
        noteIfUnrecorded(task, qosClass)
        task.escalatePriority(to: TaskPriority(qosClass))
        moveIfWaiting(ConcurrencyRuntime.node(of: task), to: qosClass)
        core.group.calls.noteItemsChanged()
    }
}

extension QoSScheduler {
    /// Notes a raise that the concurrency library's record does not show, until the task has ended.
    private func noteIfUnrecorded<Success, Failure: Error>(_ task: Task<Success, Failure>, _ qosClass: QoSClass) {
        let address = TaskAddress(rawValue: ConcurrencyRuntime.node(of: task).address)
        guard let base = ConcurrencyRuntime.baseClass(of: address), base >= qosClass else { return }
        RaisedTasks.raise(address, to: qosClass)
        Task.detached(executorPreference: executor(for: qosClass), priority: TaskPriority(qosClass)) {
            _ = await task.result
            RaisedTasks.remove(address)
        }
    }
}

extension QoSScheduler {
    /// Moves a task's node from the queue that it waits in to a higher pool, if it waits in one. The task is alive.
    ///
    /// What has just come in from another thread is in no worker's queue yet, and is left to the loop's look.
    private func moveIfWaiting(_ node: JobNode, to qosClass: QoSClass) {
        let (group, place) = (core.group, node.place)
        guard group.number != 0, place.scheduler == group.number, place.rank < qosClass.rank else { return }
        let pool = unsafe group.pools + place.rank
        guard unsafe place.worker < pool.pointee.capacity,
            let queued = unsafe pool.pointee.workers[place.worker].queue.remove(node)
        else { return }
        group.noteMoved(to: qosClass.rank)
        group.observe(
            .promotedWaiting(
                from: QoSClass(atRank: place.rank), to: qosClass, .raised(by: LockParty.callingThread.name)))
        queued.changesClass()
        unsafe group.pools[qosClass.rank].submit(queued)
    }
}
