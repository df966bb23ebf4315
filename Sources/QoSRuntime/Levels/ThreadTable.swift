import CQoSShims
import QoSCore
import QoSKernel

/// The threads whose level the runtime knows, by their kernel ids: workers, and threads with a level of their own.
///
/// The runtime reads the table only when a caller waits for such a thread. A thread registers itself, and unregisters
/// before it ends.
enum ThreadTable {
    // SAFETY: a worker outlives its thread, and other threads use it only while its thread holds a lock
    // (`ThreadRaise`).
    @safe
    struct Entry: @unchecked Sendable {
        /// The worker of the thread.
        let worker: WorkerRef?

        /// The thread's own level.
        let level: ThreadLevel?

        /// The class of the work on the thread, before any promotion; `nil` for unspecified.
        var ownClass: QoSClass? {
            guard let worker else { return level?.level?.qosClass }
            return worker.qosClass
        }
    }

    private static let entries = Lock<[UInt32: Entry]>([:])

    /// Registers the calling thread.
    static func register(worker: WorkerRef? = nil, level: ThreadLevel? = nil) {
        let entry = Entry(worker: worker, level: level)
        let id = cqos_own_id()
        entries.withLock { $0[id] = entry }
    }

    /// Unregisters the calling thread.
    static func unregister() {
        let id = cqos_own_id()
        _ = entries.withLock { $0.removeValue(forKey: id) }
    }

    /// Returns the entry of a thread.
    static subscript(id: UInt32) -> Entry? {
        entries.withLock { $0[id] }
    }
}
