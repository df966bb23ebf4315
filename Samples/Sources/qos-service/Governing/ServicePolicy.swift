internal import QoSCore

/// The recommended policy, except that busy processors count only if searches are delayed.
///
/// The indexing itself keeps the processors busy, at a class that gives way to each request. So a shortage of
/// processors alone says nothing about the requests. Their latency does.
struct ServicePolicy: GovernorPolicy {
    func decision(for conditions: SystemConditions) -> GovernorDecision {
        var relevant = conditions
        if conditions.foreground.state == .nominal {
            relevant[.cpu] = Condition(.nominal, because: "requests are in time")
        }
        return RecommendedPolicy().decision(for: relevant)
    }
}
