import CQoSShims
import QoSCore
import QoSKernel

/// The threads whose level the runtime knows, by the kernel's ids: its workers, and threads with a level of their own.
///
/// Asked only when somebody waits for such a thread. A thread registers itself and takes itself out before it ends.
enum ThreadTable {
    // SAFETY: a worker outlives its thread, and what is done to it is done while the thread holds a lock (`ThreadRaise`).
    @safe
    struct Entry: @unchecked Sendable {
        /// The worker that the thread is.
        let worker: UnsafeMutablePointer<Worker>?

        /// The level that the thread has of its own.
        let level: ThreadLevel?

        /// What runs on the thread has this class, without what it was raised to; `nil` for unspecified.
        var ownClass: QoSClass? {
            guard let worker = unsafe worker else { return level?.level?.qosClass }
            return unsafe worker.pointee.pool.pointee.qosClass
        }
    }

    private static let entries = Lock<[UInt32: Entry]>([:])

    /// Enters the calling thread.
    static func register(worker: UnsafeMutablePointer<Worker>? = nil, level: ThreadLevel? = nil) {
        let entry = unsafe Entry(worker: worker, level: level)
        let id = cqos_own_id()
        entries.withLock { $0[id] = entry }
    }

    /// Takes the calling thread out.
    static func unregister() {
        let id = cqos_own_id()
        _ = entries.withLock { $0.removeValue(forKey: id) }
    }

    /// What is known of a thread.
    static subscript(id: UInt32) -> Entry? {
        entries.withLock { $0[id] }
    }
}
