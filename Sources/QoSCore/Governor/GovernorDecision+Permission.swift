extension GovernorDecision {
    /// Returns whether work of a class may run (rules S2, S3).
    ///
    /// - Parameters:
    ///   - qosClass: the class of the work.
    ///   - isDiscretionary: whether the work can wait: prefetching, clean-up, remote copies.
    public func permits(_ qosClass: QoSClass, isDiscretionary: Bool = false) -> Bool {
        self[qosClass].permission <= (isDiscretionary ? .run : .deferDiscretionary)
    }

    /// Returns the reason why work of a class must wait, for people; `nil` if the work may run.
    ///
    /// - Parameters:
    ///   - qosClass: the class of the work.
    ///   - isDiscretionary: whether the work can wait.
    public func deferralReason(for qosClass: QoSClass, isDiscretionary: Bool = false) -> String? {
        guard !permits(qosClass, isDiscretionary: isDiscretionary) else { return nil }
        let allowance = self[qosClass]
        let what = allowance.permission == .stop ? "\(qosClass) is stopped" : "discretionary work at \(qosClass) waits"
        return allowance.reasons.isEmpty ? what : "\(what): \(allowance.reasons.joined(separator: "; "))"
    }
}
