import QoSCore
import Synchronization

/// Whether admission counts a worker that has been started.
///
/// One value holds all of it: a blocked worker is not parked at a checkpoint, and admission counts neither.
struct WorkerStanding: RawRepresentable, AtomicRepresentable, Equatable {
    let rawValue: UInt8

    /// Admission counts the worker, or the worker itself reports that it parks between two jobs.
    static let counted = WorkerStanding(rawValue: 0)

    /// The worker waits at ``QoS/checkpoint()``, its job unfinished.
    static let atCheckpoint = WorkerStanding(rawValue: .max)

    /// The thread waits in the kernel, its job unfinished.
    ///
    /// - Parameter qosClass: the class that counts the worker when it runs again.
    static func blocked(as qosClass: QoSClass) -> WorkerStanding {
        WorkerStanding(rawValue: UInt8(qosClass.rank + 1))
    }

    var isBlocked: Bool { self != .counted && self != .atCheckpoint }

    /// The class that counts the blocked worker when it runs again; `nil` for one that is not blocked.
    var blockedAs: QoSClass? { isBlocked ? QoSClass(atRank: Int(rawValue) - 1) : nil }
}
