import CQoSShims
import QoSCore
import QoSKernel

/// The level of a thread that has one of its own, and whether the thread was opted out (rules T1, T2, T4).
///
/// Threading: any thread reads; once the thread runs, it alone changes.
final class ThreadLevel: Sendable {
    private enum State {
        case level(QoSLevel?)
        /// Its scheduling is the program's business now.
        case optedOut
    }

    private let state: Lock<State>
    private let applied = Lock<AppliedEffects?>(nil)

    init(_ level: QoSLevel?) {
        state = Lock(.level(level))
    }

    /// The level; `nil` is unspecified.
    var level: QoSLevel? {
        state.withLock { state in
            guard case .level(let level) = state else { return nil }
            return level
        }
    }

    /// What the kernel gave the thread for its level; `nil` before that, and after it was opted out.
    var effects: AppliedEffects? { applied.withLock { $0 } }

    /// Takes a level.
    ///
    /// - Returns: `false` when the thread was opted out.
    func set(_ level: QoSLevel?) -> Bool {
        state.withLock { state in
            guard case .level = state else { return false }
            state = .level(level)
            return true
        }
    }

    /// From now on the thread has no level.
    func optOut() {
        state.withLock { $0 = .optedOut }
        applied.withLock { $0 = nil }
    }

    /// Notes what the kernel gave the thread.
    func received(_ effects: AppliedEffects) {
        applied.withLock { $0 = effects }
    }

    // MARK: The calling thread's

    /// The level of the thread that calls; `nil` on a thread that has none of its own.
    static var current: ThreadLevel? {
        // SAFETY: `beCurrent` keeps the object alive while the word points at it.
        guard let address = unsafe cqos_current_thread() else { return nil }
        return unsafe Unmanaged<ThreadLevel>.fromOpaque(address).takeUnretainedValue()
    }

    /// Makes this the calling thread's level for as long as a body runs.
    func beCurrent(during body: () -> Void) {
        unsafe cqos_set_current_thread(Unmanaged.passUnretained(self).toOpaque())
        unsafe ThreadTable.register(level: self)
        body()
        ThreadTable.unregister()
        cqos_set_current_thread(nil)
    }
}
