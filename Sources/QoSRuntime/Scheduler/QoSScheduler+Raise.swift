public import QoSCore
import QoSKernel
import Synchronization

extension QoSScheduler {
    /// Raises a task to at least a class, whether it waits or runs (rule I4). Never lowers it.
    ///
    /// The effect is the same as if a task of that class awaited it. Its child tasks follow, and its later submissions
    /// go to the pool of the class.
    ///
    /// - A task that waits in one of this scheduler's queues is moved at once, in constant time.
    /// - If the task does not wait there, what it waits for may: a child, or an actor's turn. The call looks through up
    ///   to 64 jobs of each lower queue, which takes some microseconds.
    /// - The worker of a running task is raised by the loop's next look, within 0.1 ms or so. The same look finds a call
    ///   that waits in a ``QoSSerialExecutor``, and jobs further back.
    ///
    /// Any thread.
    public func raise<Success, Failure: Error>(_ task: Task<Success, Failure>, to qosClass: QoSClass) {
        noteIfUnrecorded(task, qosClass)
        task.escalatePriority(to: TaskPriority(qosClass))
        if Worker.current.map({ core.group.looksAtHiddenWaits(rank: $0.qosClass.rank) }) ?? true { HiddenWaits.look() }
        if !moveIfWaiting(ConcurrencyRuntime.node(of: task), to: qosClass) {
            core.group.raiseQueued(below: qosClass.rank)
        }
        core.group.calls.noteTaskRaised()
    }
}

extension QoSScheduler {
    /// Notes a raise that the concurrency library's record does not show, until the task has ended.
    private func noteIfUnrecorded<Success, Failure: Error>(_ task: Task<Success, Failure>, _ qosClass: QoSClass) {
        let node = ConcurrencyRuntime.node(of: task)
        let address = TaskAddress(rawValue: node.address)
        guard let base = ConcurrencyRuntime.baseClass(of: address), base >= qosClass,
            !isInPool(node, atLeast: qosClass),
            RaisedTasks.raise(address, to: qosClass, for: .program)
        else { return }
        Task.detached(executorPreference: executor(for: qosClass), priority: TaskPriority(qosClass)) {
            _ = await task.result
            RaisedTasks.end(.program, of: address)
        }
    }

    /// Returns whether a live task waits in a pool of at least a class, or ran last in one. Its executor will give it to
    /// the same pool again.
    private func isInPool(_ node: JobNode, atLeast qosClass: QoSClass) -> Bool {
        let place = node.place
        if place.scheduler == core.group.number, place.scheduler != 0 { return place.rank >= qosClass.rank }
        return node.rankOfLatestRun.map { $0 >= qosClass.rank } ?? false
    }
}

extension QoSScheduler {
    /// Moves a task's node from its queue to a higher pool, if the task waits in one. The task is alive.
    ///
    /// A node that has just come in from another thread is in no worker's queue yet. The loop's look will find it.
    ///
    /// - Returns: whether the node was in a queue.
    private func moveIfWaiting(_ node: JobNode, to qosClass: QoSClass) -> Bool {
        let (group, place) = (core.group, node.place)
        let qosClass = group.servingClass(for: qosClass)
        guard group.number != 0, place.scheduler == group.number, place.rank < qosClass.rank else { return false }
        let pool = group.pools.at(place.rank)
        guard place.worker < pool.value.capacity,
            let queued = pool.value.workers[place.worker].queue.remove(node)
        else { return false }
        group.moveRaised(
            queued, from: place.rank, to: qosClass, recorded: .raised, .raised(by: LockParticipant.nameOfCaller))
        return true
    }
}
