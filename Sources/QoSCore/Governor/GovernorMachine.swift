/// Applies a policy over time: a tighter answer counts at once, a looser one after it has lasted.
///
/// The classes are independent of one another. A change of conditions changes a class's limits at most twice: at once
/// to what is tighter, and later to the rest.
package struct GovernorMachine: Sendable {
    /// A looser answer that has not lasted for long enough.
    private struct Loosening: Sendable {
        /// The tightest of the answers since.
        var allowance: ClassAllowance
        let since: SchedulerInstant
    }

    private let policy: any GovernorPolicy
    private let hold: Int64
    private var loosenings = [Loosening?](repeating: nil, count: QoSClass.allCases.count)

    /// The decision in force.
    package private(set) var decision = GovernorDecision()

    /// - Parameters:
    ///   - policy: the policy; its answers are clamped.
    ///   - hold: the time for which a looser answer must last.
    package init(policy: any GovernorPolicy, hold: Duration = .seconds(2)) {
        self.policy = policy
        self.hold = max(0, hold.schedulerNanoseconds)
    }

    /// Takes the conditions of a moment, and returns the decision in force from then on.
    @discardableResult
    package mutating func observe(_ conditions: SystemConditions, at now: SchedulerInstant) -> GovernorDecision {
        let answer = policy.decision(for: conditions).clamped()
        for qosClass in QoSClass.allCases {
            decision[qosClass] = settle(answer[qosClass], rank: qosClass.rank, current: decision[qosClass], at: now)
        }
        return decision
    }

    private mutating func settle(
        _ answer: ClassAllowance, rank: Int, current: ClassAllowance, at now: SchedulerInstant
    ) -> ClassAllowance {
        if answer.hasSameLimits(as: current) {
            loosenings[rank] = nil
            return answer
        }
        let tightest = current.restricted(to: answer)
        let isTighter = !tightest.hasSameLimits(as: current)
        if isTighter, tightest.hasSameLimits(as: answer) {
            loosenings[rank] = nil
            return answer
        }
        // Some limit of the present decision is not needed any more.
        let pending: Loosening
        if !isTighter, let earlier = loosenings[rank] {
            pending = Loosening(allowance: earlier.allowance.restricted(to: answer), since: earlier.since)
        } else {
            pending = Loosening(allowance: answer, since: now)
        }
        guard pending.since.advanced(byNanoseconds: hold) > now else {
            loosenings[rank] = nil
            return pending.allowance.hasSameLimits(as: answer) ? answer : pending.allowance
        }
        loosenings[rank] = pending
        return tightest
    }
}
