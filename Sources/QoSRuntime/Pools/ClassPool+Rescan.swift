import QoSCore
import Synchronization

extension ClassPool {
    /// Moves the waiting tasks that something of a higher class waits for to the pool of that class (rule I4).
    ///
    /// When a task is awaited by a higher one, the concurrency library raises its priority but tells no executor; so what
    /// waits is looked through now and then. The loop's thread; it never waits for a worker's lock.
    ///
    /// - Parameters:
    ///   - limit: how many nodes of each worker's queue to look at.
    ///   - move: gets each task that has been raised, and its new class.
    func rescan(limit: Int, move: (JobNode, QoSClass) -> Void) {
        let started = min(PoolWord(rawValue: word.load(ordering: .relaxed)).started, width)
        for index in 0..<started {
            var raised = unsafe workers[index].extract(limit: limit) { self.raisedClass(of: $0) != nil }
            while let node = raised.popFirst() { move(node, raisedClass(of: node) ?? qosClass) }
        }
        distributeInjected(started: started)
    }

    /// What has come in is put into the workers' queues, where it can be looked through.
    private func distributeInjected(started: Int) {
        var rest = injection.takeAll()
        guard !rest.isEmpty else { return }
        for index in 0..<started where !rest.isEmpty {
            rest = unsafe workers[index].offer(rest)
        }
        while let node = rest.popFirst() { injection.push(node) }
        // For a moment the nodes were in no queue, and a worker that parked may have seen none.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        wakeOne()
    }

    /// The class that a waiting node has been raised to since it was queued; `nil` when it is in the right pool.
    private func raisedClass(of node: JobNode) -> QoSClass? {
        guard node.tag.isJob, let live = ConcurrencyRuntime.livePriority(node.job) else { return nil }
        guard live > node.job.priority.rawValue, let raised = QoSClass(rawPriority: live) else { return nil }
        return raised > qosClass ? raised : nil
    }
}
