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
    func changingScheduling(_ change: () -> Void) {
        if let raise = LockRegistry.shared.raise(ofThread: cqos_own_id()) {
            raise.changingOwn(change)
        } else {
            change()
        }
    }
}
