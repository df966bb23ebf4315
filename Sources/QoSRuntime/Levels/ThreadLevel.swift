import CQoSShims
import QoSCore
import QoSKernel

/// The level of a thread that has its own, and whether the thread was opted out (rules T1, T2, T4).
///
/// Threading: any thread reads. Once the thread runs, only the thread itself writes.
final class ThreadLevel: Sendable {
    private enum State {
        case level(QoSLevel?)
        /// The program itself schedules the thread from now on.
        case optedOut
    }

    private let state: Lock<State>
    private let applied = Lock<AppliedEffects?>(nil)

    init(_ level: QoSLevel?) {
        state = Lock(.level(level))
    }

    /// The level; `nil` if unspecified.
    var level: QoSLevel? {
        state.withLock { state in
            guard case .level(let level) = state else { return nil }
            return level
        }
    }

    /// The kernel's grants to the thread for its level; `nil` before they are known, and after an opt-out.
    var effects: AppliedEffects? { applied.withLock { $0 } }

    /// Sets the level.
    ///
    /// - Returns: `false` if the thread was opted out.
    func set(_ level: QoSLevel?) -> Bool {
        state.withLock { state in
            guard case .level = state else { return false }
            state = .level(level)
            return true
        }
    }

    /// Opts the thread out. From now on it has no level.
    func optOut() {
        state.withLock { $0 = .optedOut }
        applied.withLock { $0 = nil }
    }

    /// Notes the kernel's grants to the thread.
    func received(_ effects: AppliedEffects) {
        applied.withLock { $0 = effects }
    }

    // MARK: The calling thread

    /// The level of the calling thread; `nil` on a thread without one of its own.
    static var current: ThreadLevel? {
        // SAFETY: `beCurrent` keeps the object alive while the word points at it.
        guard let address = unsafe cqos_current_thread() else { return nil }
        return unsafe Unmanaged<ThreadLevel>.fromOpaque(address).takeUnretainedValue()
    }

    /// Makes this the calling thread's level while a body runs.
    func beCurrent(during body: () -> Void) {
        unsafe cqos_set_current_thread(Unmanaged.passUnretained(self).toOpaque())
        ThreadTable.register(level: self)
        body()
        ThreadTable.unregister()
        cqos_set_current_thread(nil)
    }
}
