import QoSCore
import QoSKernel
import Synchronization

// The clamp of a scheduler (rule M3): while it is on, the workers of background do the work of every class.
//
// A submission looks at the clamp and chooses the pool (`ClassPool.submit`). Nothing else moves: running jobs and
// queued nodes stay, and each task comes to the other pool with its next submission. Promotion asks `servingClass`, so
// that no node goes up. At the end of the clamp, the loop's next look moves the nodes that wait in background's pool to
// the pools for which they were made.

/// The parties that may clamp a scheduler, and their decision: clamped if there are some and all agree.
///
/// Threading: any thread.
struct ClassClamp: ~Copyable {
    struct Votes: Sendable {
        var parties = 0
        var agreeing = 0
        var hasEnded = false

        var isOn: Bool { parties > 0 && agreeing == parties && !hasEnded }
    }

    private let votes = Lock(Votes())

    /// 0 before the first clamp, 1 while it is on, 2 after a clamp.
    private let state = Atomic<UInt8>(0)

    /// Whether the workers of background do all work.
    @inline(__always)
    var isOn: Bool { state.load(ordering: .relaxed) == 1 }

    /// Whether a clamp is over, and background's pool may have nodes of other classes.
    var isOver: Bool { state.load(ordering: .relaxed) == 2 }

    /// Whether background's workers may have work of other classes, from this clamp or an earlier one.
    @inline(__always)
    var wasOn: Bool { state.load(ordering: .relaxed) != 0 }

    /// Changes the votes.
    ///
    /// - Returns: whether that has ended a clamp.
    func change(_ body: (inout Votes) -> Void) -> Bool {
        votes.withLock { votes -> Bool in
            let before = votes.isOn
            body(&votes)
            if votes.isOn != before { state.store(votes.isOn ? 1 : 2, ordering: .sequentiallyConsistent) }
            return before && !votes.isOn
        }
    }
}

extension JobNode {
    /// The class of the pool for which a queued node was made. Under the lock of its queue.
    var ownClass: QoSClass {
        if tag.isLane { return QoSClass(atRank: LaneActivation(node: self).rank) }
        if tag.isJob { return ownClassOfJob }
        return QoSClass(atRank: PoolEntry.level(of: self).rank)
    }

    /// The class that the executor chose when it submitted the job (`PoolExecutor`). Above the executor's class, the
    /// task had been raised before, or its waiters tell.
    private var ownClassOfJob: QoSClass {
        let byPriority = QoSClass(job.priority)
        guard let qosClass = ExecutorIndex.qosClass(at: tag.executor) else { return byPriority }
        return byPriority > qosClass ? ConcurrencyRuntime.classAbove(qosClass, of: job, at: byPriority) : qosClass
    }
}
