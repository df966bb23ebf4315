import QoSCore

/// The limits of file I/O that a governor has set, and the next ones.
///
/// A class that the governor never limited keeps the limits that the program gave it.
struct GovernedIOLimits: Sendable {
    /// Limits to set; `nil` lifts one.
    struct Change: Sendable, Equatable {
        let qosClass: QoSClass
        let bytesPerSecond: Int?
        let operationsPerSecond: Int?
    }

    private var limits = QoSClass.allCases.map {
        Change(qosClass: $0, bytesPerSecond: nil, operationsPerSecond: nil)
    }

    /// Returns the limits to set for a decision.
    mutating func changes(to decision: GovernorDecision) -> [Change] {
        QoSClass.descending.compactMap { qosClass in
            let allowance = decision[qosClass]
            let change = Change(
                qosClass: qosClass, bytesPerSecond: allowance.ioBytesPerSecond,
                operationsPerSecond: allowance.ioOperationsPerSecond)
            guard change != limits[qosClass.rank] else { return nil }
            limits[qosClass.rank] = change
            return change
        }
    }
}
