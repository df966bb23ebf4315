import QoSCore
import QoSKernel
import Synchronization

/// A run's view of its background activity, given to its body.
///
/// Threading: any thread.
public struct BackgroundActivityContext: Sendable {
    let run: ActivityRun

    /// The identifier of the activity.
    public var identifier: String { run.identifier }

    /// Whether the run should save its work and return `deferred`. Once it is `true` it stays so until the run ends.
    ///
    /// Reasons are a condition of the activity that no longer holds, and a governor that stops the class or forbids
    /// discretionary work. Others are a run over its limit, and the end of the activity or the scheduler. One atomic
    /// load.
    public var shouldDefer: Bool { run.shouldDefer.load(ordering: .relaxed) }

    /// The reason for ``shouldDefer``, for people; `nil` while it is `false`.
    public var deferralReason: String? { run.reason.withLock { $0 } }
}

/// The end of a body of a background activity.
public enum BackgroundActivityOutcome: Sendable, Hashable {
    /// The work is done.
    case finished
    /// The work is not done. The activity runs again, after the schedule's `retryDelay` and with good conditions.
    case deferred
}

/// The request to a run to defer.
final class ActivityRun: Sendable {
    let identifier: String
    let shouldDefer = Atomic<Bool>(false)
    let reason = Lock<String?>(nil)

    init(of identifier: String) {
        self.identifier = identifier
    }

    /// Asks the run to defer. The first reason stays.
    func askToDefer(because text: String) {
        reason.withLock { $0 = $0 ?? text }
        shouldDefer.store(true, ordering: .relaxed)
    }
}
