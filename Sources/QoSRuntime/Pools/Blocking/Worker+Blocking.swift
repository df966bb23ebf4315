import CQoSShims
import QoSCore
import Synchronization

extension Worker {
    /// Notes that the calling worker's job is about to block.
    ///
    /// - Returns: whether the caller has to end it. `false` within another declaration.
    static func declareBlocking(_ worker: WorkerRef) -> Bool {
        guard !worker.value.hasDeclaredBlocking.load(ordering: .relaxed) else { return false }
        worker.value.hasDeclaredBlocking.store(true, ordering: .relaxed)
        worker.group.blocking.declared.wrappingAdd(1, ordering: .relaxed)
        // The loop may have taken the worker for blocked already, with the same effect. If too many workers are
        // blocked, none stands in.
        _ = worker.group.workerBlocked(worker, .declared)
        return true
    }

    /// Notes that the job runs again.
    static func endDeclaredBlocking(_ worker: WorkerRef) {
        worker.value.hasDeclaredBlocking.store(false, ordering: .relaxed)
        if worker.value.isBlocked { worker.group.workerUnblocked(worker) }
    }

    /// Whether the worker's class may have to stand aside. One or two loads.
    @inline(__always)
    var hasToAsk: Bool {
        pool.value.group.admission.mustAsk(rank: pool.value.qosClass.rank)
    }

    /// The same, after a look at the budget of processor time, if there is one.
    var hasToAskMachine: Bool {
        pool.value.group.mustAskMachine(rank: pool.value.qosClass.rank, waits: false)
    }
}
