import CQoSShims
import QoSCore
import QoSKernel

extension ThreadLevel {
    /// Gives the calling thread, which owns this level, the effects of its class; those of `default` without a class
    /// (rule C2).
    func applyEffects() {
        let qosClass = level?.qosClass ?? .default
        let profile = LockKernel.profile
        let change = { [self] in
            received(profile.applier.apply(qosClass))
        }
        changingScheduling(change)
    }

    /// Changes the scheduling of the calling thread, which owns this level, below its raise.
    ///
    /// Also without a raise: a waiter may make one at any moment. It would save the scheduling of before the change, and
    /// the thread would put that back.
    func changingScheduling(_ change: () -> Void) {
        var isChanged = false
        while !isChanged {
            let raise = LockRegistry.shared.raiseOrNew(ofThread: cqos_own_id())
            isChanged = raise.changingOwn(change)
            LockRegistry.shared.tidy(raise)
        }
    }
}
