import QoSKernel

/// One party's say in whether a scheduler is clamped to background (rule M3).
///
/// While all parties of a scheduler agree, the workers of background do the work of every class. Running jobs keep
/// their workers until their next suspension. Only holders of locks are promoted. A shutdown lifts the clamp for good.
///
/// Threading: any thread. Calls of ``set(_:)`` come one after the other.
package final class SchedulerClamp: Sendable {
    private let group: PoolGroup
    private let said = Lock<Bool?>(nil)

    /// Makes a party without a say.
    package init(_ scheduler: QoSScheduler) {
        group = scheduler.core.group
    }

    deinit {
        if set(nil) { workReturns() }
    }

    /// Whether the scheduler is clamped.
    package var isOn: Bool { group.clamp.isOn }

    /// Sets what the party says; `nil` for nothing. Takes effect with the next submissions. No system call.
    ///
    /// - Returns: whether that has ended the clamp. ``workReturns()`` has to follow.
    package func set(_ new: Bool?) -> Bool {
        let old = said.withLock { said -> Bool? in
            defer { said = new }
            return said
        }
        guard old != new else { return false }
        return group.clamp.change { votes in
            votes.parties += (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
            votes.agreeing += (new == true ? 1 : 0) - (old == true ? 1 : 0)
        }
    }

    /// Lets the loop move waiting work from background's pool to the pools of its classes, within some 0.1 ms.
    package func workReturns() {
        if !group.isEnding { group.calls.noteTaskRaised() }
    }
}
