/// A background activity: its name, its schedule and its conditions (rule S5).
///
/// ```swift
/// var scrub = BackgroundActivity("scrub", .every(.seconds(86_400), tolerance: .seconds(7_200)))
/// scrub.conditions = [.onMainsPower, .pressure(.io, atMost: .nominal)]
/// ```
public struct BackgroundActivity: Sendable, Hashable, Codable {
    /// The name. A scheduler of activities has one activity of a name.
    public var identifier: String

    /// The times at which the activity should run.
    public var schedule: ActivitySchedule

    /// The class of the runs: background or utility.
    public var qosClass: QoSClass

    /// The conditions beside the governor's permission for discretionary work. All must hold.
    public var conditions: [ActivityCondition]

    /// The longest run. A longer one is asked to defer and reported; more than zero.
    public var runLimit: Duration

    /// The longest time from the request to defer to the end of the run. A longer one is reported; more than zero.
    public var deferralLimit: Duration

    /// Makes an activity.
    public init(
        _ identifier: String, _ schedule: ActivitySchedule, qosClass: QoSClass = .background,
        conditions: [ActivityCondition] = [], runLimit: Duration = .seconds(3_600),
        deferralLimit: Duration = .seconds(30)
    ) {
        self.identifier = identifier
        self.schedule = schedule
        self.qosClass = qosClass
        self.conditions = conditions
        self.runLimit = runLimit
        self.deferralLimit = deferralLimit
    }

    /// The mistake in the activity, with a remedy; `nil` if it makes sense.
    public var problem: String? {
        if identifier.isEmpty { return "an empty identifier: use a name" }
        if qosClass > .utility { return "the class \(qosClass): use background or utility" }
        if runLimit <= .zero { return "a run limit of \(runLimit): use more than zero" }
        if deferralLimit <= .zero { return "a deferral limit of \(deferralLimit): use more than zero" }
        return schedule.problem
    }

    /// Returns the reason why the activity must not run, for people; `nil` if it may.
    ///
    /// Background activities are discretionary work. So the governor's permission comes first.
    public func obstacle(in conditions: SystemConditions, _ decision: GovernorDecision) -> String? {
        if let reason = decision.deferralReason(for: qosClass, isDiscretionary: true) { return reason }
        let reasons = self.conditions.compactMap { $0.obstacle(in: conditions) }
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }
}
