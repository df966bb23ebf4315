import QoSCore
import Synchronization

extension ClassPool {
    /// Runs the loop's look: like ``raiseWaiting(limit:move:)``, and the queued nodes of workers that stand aside go to
    /// others.
    ///
    /// - Parameter cancelledClass: the class of cancelled tasks, as long as the pool's own class is stopped.
    func rescan(limit: Int, cancelledClass: QoSClass?, move: (JobNode, QoSClass) -> Void) {
        let started = self.started
        extractRaised(started: started, limit: limit, cancelledClass: cancelledClass, move: move)
        for index in 0..<started
        where workers[index].isParked {
            relieve(index)
        }
        wakeForMoved()
    }

    /// Moves waiting tasks to the pool of a higher class whose work waits for them (rule I4).
    ///
    /// When a higher task awaits a task, the concurrency library raises that task's priority but tells no executor. So
    /// this function looks through the waiting nodes. It never waits for a worker's lock. The loop's thread, or a
    /// worker of a higher class.
    ///
    /// - Parameters:
    ///   - limit: the number of nodes of each worker's queue to look at.
    ///   - move: called with each raised task and its new class.
    func raiseWaiting(limit: Int, move: (JobNode, QoSClass) -> Void) {
        if extractRaised(started: started, limit: limit, cancelledClass: nil, move: move) { wakeForMoved() }
    }

    /// Moves those of the waiting tasks that stand in the workers' queues. Any thread.
    ///
    /// New nodes and calls in a lane stay for the other looks. They would wait for the calling thread if it were
    /// preempted, and it may be of any class.
    func raiseQueued(limit: Int, move: (JobNode, QoSClass) -> Void) {
        for index in 0..<started {
            extractRaised(from: index, limit: limit, cancelledClass: nil, move: move)
        }
    }

    /// Takes the raised nodes out of the queues.
    ///
    /// - Returns: whether nodes have gone from one queue of the pool to another.
    @discardableResult
    private func extractRaised(
        started: Int, limit: Int, cancelledClass: QoSClass?, move: (JobNode, QoSClass) -> Void
    ) -> Bool {
        let hasDistributed = distributeInjected(started: started, cancelledClass: cancelledClass, move: move)
        var lanes: [SerialLane] = []
        for index in 0..<started {
            extractRaised(from: index, limit: limit, cancelledClass: cancelledClass, move: move) { node in
                if node.tag.isLane { lanes.append(LaneActivation(node: node).lane) }
            }
        }
        for lane in lanes { lane.raiseAwaited(limit: limit) }
        return hasDistributed
    }

    /// Takes the raised nodes out of one worker's queue.
    ///
    /// - Parameter note: called with each node that was looked at.
    private func extractRaised(
        from index: Int, limit: Int, cancelledClass: QoSClass?, move: (JobNode, QoSClass) -> Void,
        note: (JobNode) -> Void = { _ in }
    ) {
        var raised = workers[index].queue.extract(limit: limit) { node in
            note(node)
            return self.newClass(of: node, cancelledClass: cancelledClass) != nil
        }
        while let node = raised.popFirst() {
            move(node, newClass(of: node, cancelledClass: cancelledClass) ?? qosClass)
        }
    }

    /// Wakes a worker for moved nodes. During the move the nodes were in no queue, so a worker that parked saw none. A
    /// worker may also have received nodes after its last look.
    private func wakeForMoved() {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if hasWork() { wakeOne() }
        forwardIfClosed()
    }

    /// Gives the queued nodes of a worker that stands aside to a worker that runs. While none runs, the nodes stay, and
    /// the worker that is woken next finds them.
    ///
    /// The running workers may be busy forever, and they look at other queues only when their own is empty. A worker
    /// that parks calls this itself. The loop does so once more, for nodes that another thread has added at the same
    /// time.
    ///
    /// Threading: the worker itself or the loop's thread.
    func relieve(_ index: Int) {
        guard !workers[index].queue.isEmpty else { return }
        for other in 0..<started
        where other != index && !workers[other].isParked {
            let rest = workers[other].offer(workers[index].queue.takeAll())
            if rest.isEmpty { return forwardIfClosed() }
            workers[index].queue.giveBack(rest)
        }
    }

    /// The number of nodes taken out of the pool's queues to be run, and the number that wait in them.
    var takenAndWaiting: (taken: UInt64, waiting: Int) {
        var (steps, waiting) = (UInt64(0), injection.isEmpty ? 0 : 1)
        for index in 0..<started {
            // A running job has only begun: an odd step.
            steps &+= (workers[index].jobSteps + 1) / 2
            waiting += workers[index].queue.count
        }
        return (steps, waiting)
    }

    /// Moves new nodes into the workers' queues, where they can be looked through. Looks at once through the nodes that
    /// find no place there: the class may be paused, and have no worker.
    ///
    /// - Returns: whether there were any nodes.
    private func distributeInjected(
        started: Int, cancelledClass: QoSClass?, move: (JobNode, QoSClass) -> Void
    ) -> Bool {
        var rest = injection.takeAll()
        guard !rest.isEmpty else { return false }
        // Running workers first: they come to the nodes without being woken.
        for turn in 0..<2 * started where !rest.isEmpty {
            let (index, wantsParked) = (turn % started, turn >= started)
            if workers[index].isParked == wantsParked {
                rest = workers[index].offer(rest)
            }
        }
        while let node = rest.popFirst() {
            if let new = newClass(of: node, cancelledClass: cancelledClass) {
                move(node, new)
            } else {
                injection.push(node)
            }
        }
        return true
    }

    /// Returns the class of the pool to which a waiting node has to go; `nil` when it is in the right pool.
    private func newClass(of node: JobNode, cancelledClass: QoSClass?) -> QoSClass? {
        raisedClass(of: node) ?? ownClass(ofClamped: node)
            ?? cancelledClass.flatMap { ConcurrencyRuntime.isCancelled(node) ? $0 : nil }
    }

    /// Returns the class of a node that came into background's pool under a clamp that is over (rule M3); `nil` for any
    /// other node.
    private func ownClass(ofClamped node: JobNode) -> QoSClass? {
        guard qosClass == .background, group.clamp.isOver else { return nil }
        let serving = group.servingClass(for: node.ownClass)
        return serving > qosClass ? serving : nil
    }

    /// Returns the class to which a waiting node has been raised since it was queued; `nil` when it is in the right
    /// pool.
    private func raisedClass(of node: JobNode) -> QoSClass? {
        guard node.tag.isJob, let live = ConcurrencyRuntime.livePriority(node.job) else { return nil }
        guard live > node.job.priority.rawValue else {
            // The record shows neither a class below its own nor the class of a waiter's scope.
            return live > qosClass.rawValue || RaisedTasks.mayHaveScopes ? raisedWithoutRecord(node) : nil
        }
        var raised = QoSClass(rawPriority: live)
        // The record shows the waiter's priority, and not the class of the waiter's scope.
        if RaisedTasks.mayHaveScopes { raised.rise(to: ConcurrencyRuntime.classNeeding(node.job)) }
        return raised.map(group.servingClass).flatMap { $0 > qosClass ? $0 : nil }
    }

    /// Returns the same for a task whose priority is above its executor's class, and so did not rise. The queue is locked,
    /// or the calling worker has taken the node out to run it.
    @inline(never)
    func raisedWithoutRecord(_ node: JobNode) -> QoSClass? {
        guard let own = ExecutorIndex.qosClass(at: node.tag.executor), own <= qosClass else { return nil }
        return ConcurrencyRuntime.classNeeding(node.job).map(group.servingClass).flatMap { $0 > qosClass ? $0 : nil }
    }
}
