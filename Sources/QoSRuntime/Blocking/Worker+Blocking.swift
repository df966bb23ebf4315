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
        _ = unsafe worker.pointee.pool.pointee.core.workerBlocked(worker, .declared)
        return true
    }

    /// It runs again.
    static func endDeclaredBlocking(_ worker: UnsafeMutablePointer<Worker>) {
        unsafe worker.pointee.hasDeclaredBlocking.store(false, ordering: .relaxed)
        if unsafe worker.pointee.isBlocked { unsafe worker.pointee.pool.pointee.core.workerUnblocked(worker) }
    }

    /// Whether the worker's class may have to stand aside. One or two loads.
    @inline(__always)
    var hasToAsk: Bool {
        unsafe pool.pointee.core.admission.mustAsk(rank: pool.pointee.qosClass.rank)
    }

    /// A job of the calling worker can wait for more important work to go first: it parks as between two jobs, if it is told to.
    static func askAtCheckpoint(_ worker: UnsafeMutablePointer<Worker>) {
        let pool = unsafe worker.pointee.pool
        let core = unsafe pool.pointee.core
        guard !core.isClosed, unsafe cqos_current_lane() == nil, unsafe !worker.pointee.isBlocked,
            unsafe !worker.pointee.isBoosted.load(ordering: .relaxed)
        else { return }
        guard unsafe core.workerMustPark(rank: pool.pointee.qosClass.rank) else { return }
        unsafe worker.pointee.isParkedInJob.store(true, ordering: .sequentiallyConsistent)
        unsafe park(worker, wasSearching: false, isCounted: false)
        unsafe worker.pointee.isParkedInJob.store(false, ordering: .sequentiallyConsistent)
        // Whoever wakes a worker counts it as one that looks for work; whoever closes wakes all of them.
        if !core.isClosed { unsafe pool.pointee.searchSucceeded() }
    }
}
