import CQoSShims
import Glibc
import QoSCore
import QoSKernel
import Synchronization

/// The level of the process's main thread (rule T5).
enum MainThread {
    private static let isInteractive = Atomic(false)

    /// Whether the process is interactive: a user sits in front of it. `false` until start-up has chosen.
    static var belongsToInteractive: Bool { isInteractive.load(ordering: .relaxed) }

    /// Chooses whether the process is interactive. Once, at start-up.
    static func choose(isInteractive: Bool) {
        self.isInteractive.store(isInteractive, ordering: .relaxed)
    }

    /// The main thread's level.
    static var level: QoSLevel { level(isInteractive: belongsToInteractive) }

    /// Returns the main thread's level in a process that is interactive, or in a service.
    static func level(isInteractive: Bool) -> QoSLevel { isInteractive ? .userInteractive : .default }

    /// The main thread's level, if the calling thread is the main thread. Takes some 100 ns.
    static var levelIfCurrent: QoSLevel? {
        cqos_own_id() == UInt32(bitPattern: getpid()) ? level : nil
    }
}
