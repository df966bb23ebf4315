import CQoSShims
import QoSCore
import QoSKernel

/// The level of a thread that has one of its own, and whether the thread was opted out (rules T1, T2, T4).
///
/// Threading: any thread reads; the thread itself changes it.
final class ThreadLevel: Sendable {
    private let state: Lock<QoSLevel?>

    init(_ level: QoSLevel?) {
        state = Lock(level)
    }

    /// The level; `nil` is unspecified.
    var level: QoSLevel? { state.withLock { $0 } }

    /// The level of the thread that calls; `nil` on a thread that has none of its own.
    static var current: ThreadLevel? {
        // SAFETY: `with(_:_:)` keeps the object alive while the word points at it.
        guard let address = unsafe cqos_current_thread() else { return nil }
        return unsafe Unmanaged<ThreadLevel>.fromOpaque(address).takeUnretainedValue()
    }
}
