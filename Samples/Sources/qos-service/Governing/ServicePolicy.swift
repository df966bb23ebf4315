internal import QoSCore

/// The recommended policy, except that busy processors count only if searches are delayed, and that the background is
/// never stopped: its workloads pause by themselves.
///
/// The indexing itself keeps the processors busy, at a class that gives way to each request. So a shortage of
/// processors alone says nothing about the requests. Their latency does.
struct ServicePolicy: GovernorPolicy {
    func decision(for conditions: SystemConditions) -> GovernorDecision {
        var relevant = conditions
        if conditions.foreground.state == .nominal {
            relevant[.cpu] = Condition(.nominal, because: "requests are in time")
        }
        var decision = RecommendedPolicy().decision(for: relevant)
        if decision[.background].permission == .stop {
            // The workloads have conditions of their own, which say the same. A stopped class could not obey them.
            decision[.background].permission = .deferDiscretionary
            decision[.background].widths = [.processors(1)]
        }
        return decision
    }
}
