import QoSCore
import QoSEventLoop
import QoSKernel
import Synchronization

// A shutdown treats work as it declared, at the beginning and while it goes on (`Docs/Inside/Protocols/shutdown.md`).

extension SchedulerCore {
    /// Begins to drain the scheduler. Once; the loop's thread.
    func beginEnding() {
        guard !group.drainingFlag.exchange(true, ordering: .sequentiallyConsistent) else { return }
        // Paused work would otherwise run elsewhere a moment later, without its class.
        liftWidthLimits()
        _ = group.clamp.change { $0.hasEnded = true }
        governed.publish(GovernorDecision())
        governed.finish()
        sortQueued()
        promoteRunningBlocked()
        for held in shutdownHolds.beginPromoting() { promote(held) }
        group.calls.noteBacklog()
    }

    /// Ends the clamp for good, because the process ends: background may be stopped, and the end needs all classes
    /// (rule M3). Any thread.
    func endClamp() {
        if group.clamp.change({ $0.hasEnded = true }), !group.isEnding { group.calls.noteTaskRaised() }
    }

    /// Begins to hold work that a shutdown must wait for, when the work begins to wait or to run.
    ///
    /// - Returns: the hold for ``endHold(_:)``.
    func beginHold(_ held: ShutdownHolds.Held) -> Int {
        let (hold, promotesAtOnce) = shutdownHolds.begin(held)
        if promotesAtOnce, let retained = held.retained { promote(retained) }
        return hold
    }

    /// Ends a hold, because its work has ended.
    func endHold(_ hold: Int) {
        if shutdownHolds.end(hold), group.isEnding { loop.wake() }
    }

    private func promote(_ held: ShutdownHolds.Held) {
        switch held {
        case .task(let address):
            if let address { ConcurrencyRuntime.escalateAndRelease(address, to: PoolGroup.waited) }
        case .entry(let entry):
            entry.raised(to: LevelCode(QoSLevel(PoolGroup.waited)))
        }
        group.calls.noteBacklog()
    }

    /// Submits a job that declares a shutdown behavior while the scheduler ends. Any thread.
    func submitWhileEnding(_ node: JobNode, rank: Int) {
        switch node.tag.shutdownBehavior {
        case .continue:
            var nodes = NodeList()
            nodes.append(node)
            group.forward(nodes)
        case .finish: group.pools[max(rank, PoolGroup.waited.rank)].submit(node)
        case .skip, nil: group.pools[rank].submit(node)
        }
    }

    /// Takes out the queued work for which a shutdown does not wait, or which it has to raise.
    private func sortQueued() {
        for rank in 0..<QoSClass.allCases.count {
            let pool = group.pools.at(rank)
            sort(pool.value.injection.takeAll(), of: rank)
            for index in 0..<pool.value.started {
                sort(pool.value.workers[index].queue.takeOut { self.isSorted($0, rank: rank) }, of: rank)
            }
            // Meanwhile the nodes were in no queue, so a worker that parked saw no work.
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            if pool.value.hasWork() { pool.value.wakeOne() }
        }
    }

    private func sort(_ nodes: consuming NodeList, of rank: Int) {
        while let node = nodes.popFirst() {
            if !isSorted(node, rank: rank) {
                group.pools[rank].injection.push(node)
            } else if node.tag.isJob {
                submitWhileEnding(node, rank: rank)
            } else {
                var entry = NodeList()
                entry.append(node)
                group.forward(entry)
            }
        }
    }

    private func isSorted(_ node: JobNode, rank: Int) -> Bool {
        if node.tag.isLane { return false }
        guard node.tag.isJob else { return PoolEntry.behavior(of: node) == .continue }
        switch node.tag.shutdownBehavior {
        case .continue: return true
        case .finish: return rank < PoolGroup.waited.rank
        case .skip, nil: return false
        }
    }

    /// Raises the running tasks of the executors for `block`. The next look raises their workers.
    private func promoteRunningBlocked() {
        for rank in 0..<PoolGroup.waited.rank {
            for index in 0..<group.pools[rank].started {
                let worker = group.pools[rank].workers.at(index)
                let declared = worker.value.declared.load(ordering: .sequentiallyConsistent)
                guard declared == ShutdownBehavior.finish.rawValue else { continue }
                let task: TaskAddress? = worker.value.running.inspect { job in
                    let address = TaskAddress(rawValue: JobNode(job).address)
                    return ConcurrencyRuntime.retain(address) ? address : nil
                }
                if let task { ConcurrencyRuntime.escalateAndRelease(task, to: PoolGroup.waited) }
            }
        }
    }
}
