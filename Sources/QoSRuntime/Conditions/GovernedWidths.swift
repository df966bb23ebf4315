import QoSCore

/// The width limits that a governor has set, and the next ones.
///
/// A class that the governor never limited keeps the limit that the program gave it.
struct GovernedWidths: Sendable {
    /// A limit to set; `nil` lifts it.
    struct Change: Sendable, Equatable {
        let qosClass: QoSClass
        let limit: Int?
    }

    private var limits = [Int?](repeating: nil, count: QoSClass.allCases.count)

    /// Returns the limits to set at a moment.
    ///
    /// - Parameters:
    ///   - decision: the decision in force.
    ///   - processors: the number of processors that the scheduler counts on.
    ///   - now: the moment, for classes with a duty.
    mutating func changes(
        to decision: GovernorDecision, processors: Int, at now: SchedulerInstant
    ) -> [Change] {
        QoSClass.descending.compactMap { qosClass in
            let allowance = decision[qosClass]
            let isPaused = !DutyCycle(allowance.duty).isRunning(at: now)
            let limit = isPaused ? 0 : allowance.workers(onProcessors: processors)
            guard limit != limits[qosClass.rank] else { return nil }
            limits[qosClass.rank] = limit
            return Change(qosClass: qosClass, limit: limit)
        }
    }

    /// The next moment at which a duty changes a limit; `nil` if none does.
    static func nextChange(of decision: GovernorDecision, after now: SchedulerInstant) -> SchedulerInstant? {
        QoSClass.allCases.filter { decision[$0].permission < .stop }
            .compactMap { DutyCycle(decision[$0].duty).nextChange(after: now) }.min()
    }
}
