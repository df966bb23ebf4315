import QoSCore
import QoSRuntime

extension BaseOperation {
    /// The reason why the operation waits for the permission of discretionary work, for people; `nil` if it does not
    /// (rule O12).
    public var deferralReason: String? {
        let scheduler = OperationEngine.shared.look { state -> QoSScheduler? in
            guard case .added = record.phase, let id = record.id, !state.graph.isRunning(id) else { return nil }
            return record.runner?.scheduler
        }
        return scheduler.flatMap { deferralReason(under: $0.decision) }
    }

    /// Returns the reason why a decision lets the operation wait; `nil` if the operation may run.
    ///
    /// An operation above utility is in foreground use: a user waits for it, directly or over other operations.
    func deferralReason(under decision: GovernorDecision) -> String? {
        let qosClass = effectiveLevel?.qosClass ?? .default
        guard isDiscretionary, qosClass <= .utility else { return nil }
        return decision.deferralReason(for: qosClass, isDiscretionary: true)
    }
}
