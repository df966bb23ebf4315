import CQoSShims
import Glibc
import QoSCore
import QoSKernel
import Synchronization

/// The level of the process's main thread (rule T5).
enum MainThread {
    private static let isInteractive = Atomic(false)

    /// What the process is. `service` until something else was chosen at start-up.
    static var kind: QoSProcess.Kind {
        isInteractive.load(ordering: .relaxed) ? .interactive : .service
    }

    /// Chooses; once, at start-up.
    static func choose(_ kind: QoSProcess.Kind) {
        isInteractive.store(kind == .interactive, ordering: .relaxed)
    }

    /// The main thread's level, if the calling thread is it; some 100 ns.
    static var levelIfCurrent: QoSLevel? {
        cqos_own_id() == UInt32(bitPattern: getpid()) ? kind.mainLevel : nil
    }
}

extension QoSProcess {
    /// Whether the calling thread is the main thread of an interactive process (rule O2).
    package static var isInteractiveMain: Bool {
        MainThread.kind == .interactive && MainThread.levelIfCurrent != nil
    }
}
