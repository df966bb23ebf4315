import CQoSShims
import QoSCore
import Synchronization

extension Worker {
    /// The calling worker's job is about to block.
    ///
    /// - Returns: whether that was noted, and has to be ended; not when it is within another one, or too many are blocked.
    static func declareBlocking(_ worker: UnsafeMutablePointer<Worker>) -> Bool {
        guard unsafe !worker.pointee.hasDeclaredBlocking.load(ordering: .relaxed) else { return false }
        unsafe worker.pointee.hasDeclaredBlocking.store(true, ordering: .relaxed)
        // The loop may have noticed it already, which is as good; and where too many are blocked, nobody stands in.
        _ = unsafe worker.pointee.pool.pointee.group.workerBlocked(worker, .declared)
        return true
    }

    /// It runs again.
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
