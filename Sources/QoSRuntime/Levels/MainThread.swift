import CQoSShims
import Glibc
import QoSCore
import QoSKernel
import Synchronization

/// The level of the process's main thread (rule T5).
enum MainThread {
    private static let isInteractive = Atomic(false)

    /// Whether somebody sits in front of the process; not until that was chosen at start-up.
    static var belongsToInteractive: Bool { isInteractive.load(ordering: .relaxed) }

    /// Chooses; once, at start-up.
    static func choose(isInteractive: Bool) {
        self.isInteractive.store(isInteractive, ordering: .relaxed)
    }

    /// The main thread's level.
    static var level: QoSLevel { level(isInteractive: belongsToInteractive) }

    /// The same for a process that is interactive, or a service.
    static func level(isInteractive: Bool) -> QoSLevel { isInteractive ? .userInteractive : .default }

    /// The main thread's level, if the calling thread is it; some 100 ns.
    static var levelIfCurrent: QoSLevel? {
        cqos_own_id() == UInt32(bitPattern: getpid()) ? level : nil
    }
}
