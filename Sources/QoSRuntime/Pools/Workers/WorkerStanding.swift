import QoSCore
import Synchronization

/// The reason for which a worker that has a thread is counted by admission, or not.
///
/// One value holds all of it: a blocked worker is not parked at a checkpoint, and an idle one is neither. The table of
/// events is in `Docs/Inside/Protocols/wake-park.md`.
struct WorkerStanding: RawRepresentable, AtomicRepresentable, Equatable {
    let rawValue: UInt8

    /// Admission counts the worker: it runs a job, or looks for one.
    static let counted = WorkerStanding(rawValue: 0)

    /// The worker sleeps between two jobs, or is about to. Admission counts it until the worker itself reports that.
    static let idle = WorkerStanding(rawValue: .max - 1)

    /// The worker waits at ``QoS/checkpoint()``, its job unfinished.
    static let atCheckpoint = WorkerStanding(rawValue: .max)

    /// The thread waits in the kernel, its job unfinished.
    ///
    /// - Parameter qosClass: the class that counts the worker when it runs again.
    static func blocked(as qosClass: QoSClass) -> WorkerStanding {
        WorkerStanding(rawValue: UInt8(qosClass.rank + 1))
    }

    @inline(__always)
    var isBlocked: Bool { self != .counted && rawValue < Self.idle.rawValue }

    /// The class that counts the blocked worker when it runs again; `nil` for one that is not blocked.
    var blockedAs: QoSClass? { isBlocked ? QoSClass(atRank: Int(rawValue) - 1) : nil }

    /// A change of a worker's standing.
    enum Event: Equatable {
        /// The worker found no job, or may not take one. Its own thread, without a lock.
        case parks
        /// The worker looks for a job again. Its own thread, without a lock.
        case wakes
        /// The worker has to wait at a checkpoint. With the lock of the boost held, like all that follow.
        case waitsAtCheckpoint
        /// The wait at the checkpoint is over.
        case leavesCheckpoint
        /// The thread waits in the kernel. The class counts it when it runs again.
        case blocks(QoSClass)
        /// A raise has changed the class that will count the blocked worker.
        case changesClass(QoSClass)
        /// The thread runs again, or its job has ended.
        case runs
    }

    /// Returns the standing after an event; `nil` for an event that does not apply.
    func after(_ event: Event) -> WorkerStanding? {
        switch event {
        case .parks: self == .counted ? .idle : nil
        case .wakes: self == .idle ? .counted : nil
        case .waitsAtCheckpoint: self == .counted ? .atCheckpoint : nil
        case .leavesCheckpoint: self == .atCheckpoint ? .counted : nil
        case .blocks(let qosClass): self == .counted ? .blocked(as: qosClass) : nil
        case .changesClass(let qosClass): isBlocked ? .blocked(as: qosClass) : nil
        case .runs: isBlocked ? .counted : nil
        }
    }
}
