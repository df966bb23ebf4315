import CQoSShims
import QoSCore

/// A worker, wherever its pool keeps it.
typealias WorkerRef = UnsafeShared<Worker>

/// A pool, wherever its group keeps it.
typealias PoolRef = UnsafeShared<ClassPool>

extension UnsafeShared where Value: ~Copyable, Value == Worker {
    @inline(__always)
    var index: Int { value.index }

    @inline(__always)
    var pool: PoolRef { value.pool }

    @inline(__always)
    var group: PoolGroup { value.pool.value.group }

    @inline(__always)
    var qosClass: QoSClass { value.pool.value.qosClass }
}

extension Worker {
    /// The worker of the calling thread. Only a worker's thread sets it.
    @inline(__always)
    static var current: WorkerRef? {
        // SAFETY: only `setCurrent` sets the word, to a worker that outlives its thread.
        unsafe cqos_current_worker().map { unsafe WorkerRef($0.assumingMemoryBound(to: Worker.self)) }
    }

    /// Makes the calling thread one of a worker, or of none.
    static func setCurrent(_ worker: WorkerRef?) {
        unsafe cqos_set_current_worker(worker?.address)
    }
}
