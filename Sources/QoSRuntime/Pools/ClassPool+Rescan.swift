import QoSCore
import Synchronization

extension ClassPool {
    /// The loop's look: as ``raiseWaiting(limit:move:)``, and what workers that stand aside have queued goes to others.
    func rescan(limit: Int, move: (JobNode, QoSClass) -> Void) {
        let started = self.started
        extractRaised(started: started, limit: limit, move: move)
        for index in 0..<started
        where unsafe workers[index].isParked {
            relieve(index)
        }
        wakeForMoved()
    }

    /// Moves the waiting tasks that something of a higher class waits for to the pool of that class (rule I4).
    ///
    /// When a task is awaited by a higher one, the concurrency library raises its priority but tells no executor; so what
    /// waits is looked through. It never waits for a worker's lock. The loop's thread, or a worker of a higher class.
    ///
    /// - Parameters:
    ///   - limit: how many nodes of each worker's queue to look at.
    ///   - move: gets each task that has been raised, and its new class.
    func raiseWaiting(limit: Int, move: (JobNode, QoSClass) -> Void) {
        if extractRaised(started: started, limit: limit, move: move) { wakeForMoved() }
    }

    /// - Returns: whether nodes have gone from one queue of the pool to another.
    @discardableResult
    private func extractRaised(started: Int, limit: Int, move: (JobNode, QoSClass) -> Void) -> Bool {
        let hasDistributed = distributeInjected(started: started, move: move)
        var lanes: [SerialLane] = []
        for index in 0..<started {
            var raised = unsafe workers[index].queue.extract(limit: limit) { node in
                if node.tag.isLane { lanes.append(LaneActivation(node: node).lane) }
                return self.raisedClass(of: node) != nil
            }
            while let node = raised.popFirst() { move(node, raisedClass(of: node) ?? qosClass) }
        }
        for lane in lanes { lane.raiseAwaited(limit: limit) }
        return hasDistributed
    }

    /// While nodes go from one queue to another they are in none, and those who park see none; and what was given to a worker may
    /// have come after its last look.
    private func wakeForMoved() {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if hasWork() { wakeOne() }
        forwardIfClosed()
    }

    /// What a worker that stands aside still has queued goes to one that runs; it stays where it is while none does, and whoever is
    /// woken next finds it.
    ///
    /// Those that run may be busy for ever, and look at the others' queues only when their own is empty. A worker that parks does
    /// this for itself; the loop does it once more for what another has put there at the same moment.
    ///
    /// Threading: the worker itself or the loop's thread.
    func relieve(_ index: Int) {
        guard unsafe !workers[index].queue.isEmpty else { return }
        for other in 0..<started
        where unsafe other != index && !workers[other].isParked {
            let rest = unsafe workers[other].offer(workers[index].queue.takeAll())
            if rest.isEmpty { return forwardIfClosed() }
            unsafe workers[index].queue.giveBack(rest)
        }
    }

    /// How many nodes have been taken out of the pool's queues to be run, and how many wait in them.
    var takenAndWaiting: (taken: UInt64, waiting: Int) {
        var (steps, waiting) = (UInt64(0), injection.isEmpty ? 0 : 1)
        for index in 0..<started {
            // A job that runs has begun only: an odd step.
            steps &+= unsafe (workers[index].jobSteps.load(ordering: .relaxed) + 1) / 2
            waiting += unsafe workers[index].queue.count
        }
        return (steps, waiting)
    }

    /// What has come in is put into the workers' queues, where it can be looked through; what finds no place there is looked through
    /// at once: the class may be paused, and have no worker.
    ///
    /// - Returns: whether there was anything.
    private func distributeInjected(started: Int, move: (JobNode, QoSClass) -> Void) -> Bool {
        var rest = injection.takeAll()
        guard !rest.isEmpty else { return false }
        // Those that run first: they come to it without being woken.
        for turn in 0..<2 * started where !rest.isEmpty {
            let (index, wantsParked) = (turn % started, turn >= started)
            if unsafe workers[index].isParked == wantsParked {
                rest = unsafe workers[index].offer(rest)
            }
        }
        while let node = rest.popFirst() {
            if let raised = raisedClass(of: node) { move(node, raised) } else { injection.push(node) }
        }
        return true
    }

    /// The class that a waiting node has been raised to since it was queued; `nil` when it is in the right pool.
    private func raisedClass(of node: JobNode) -> QoSClass? {
        guard node.tag.isJob, let live = ConcurrencyRuntime.livePriority(node.job) else { return nil }
        guard live > ConcurrencyRuntime.recordedPriority(node.job) else {
            return live > qosClass.rawValue ? raisedWithoutRecord(node) : nil
        }
        guard let raised = QoSClass(rawPriority: live) else { return nil }
        return raised > qosClass ? raised : nil
    }

    /// The same for a task whose priority is above the class of its executor from the start, and so did not rise. Such a node cannot
    /// begin to run while it is looked at, so those who wait for the task are alive.
    @inline(never)
    private func raisedWithoutRecord(_ node: JobNode) -> QoSClass? {
        guard let own = PoolExecutor.qosClass(atIndex: node.tag.executor), own <= qosClass,
            let task = ConcurrencyRuntime.task(of: node.job)
        else { return nil }
        let waiter = ConcurrencyRuntime.latestWaiter(of: node.job).flatMap(ConcurrencyRuntime.latestClass)
        let raised = [RaisedTasks.qosClass(of: task), waiter].compactMap(\.self).max()
        return raised.flatMap { $0 > qosClass ? $0 : nil }
    }
}
