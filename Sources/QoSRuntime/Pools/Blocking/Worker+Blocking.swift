import CQoSShims
import QoSCore
import Synchronization

extension Worker {
    /// Notes that the calling worker's job is about to block.
    ///
    /// - Returns: whether the caller has to end it. `false` within another declaration.
    static func declareBlocking(_ worker: UnsafeMutablePointer<Worker>) -> Bool {
        guard unsafe !worker.pointee.hasDeclaredBlocking.load(ordering: .relaxed) else { return false }
        unsafe worker.pointee.hasDeclaredBlocking.store(true, ordering: .relaxed)
        // The loop may already have noticed it, with the same effect. If too many workers are blocked, none stands in.
        _ = unsafe worker.pointee.pool.pointee.group.workerBlocked(worker, .declared)
        return true
    }

    /// Notes that the job runs again.
    static func endDeclaredBlocking(_ worker: UnsafeMutablePointer<Worker>) {
        unsafe worker.pointee.hasDeclaredBlocking.store(false, ordering: .relaxed)
        if unsafe worker.pointee.isBlocked { unsafe worker.pointee.pool.pointee.group.workerUnblocked(worker) }
    }

    /// Whether the worker's class may have to stand aside. One or two loads.
    @inline(__always)
    var hasToAsk: Bool {
        unsafe pool.pointee.group.admission.mustAsk(rank: pool.pointee.qosClass.rank)
    }
}
