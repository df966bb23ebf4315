/// Runs a world with all invariants, and with a judge if there is one. Returns the violation, if any.
package func violation(
    of world: SimulatedWorld, slack: Int64 = 0,
    judgedBy judge: (SimulatedWorld) -> (any AdmissionJudge)? = { _ in nil }
) -> SimulationViolation? {
    var simulation = AdmissionSimulation(world, judgedBy: judge(world))
    simulation.slack = slack
    do throws(SimulationViolation) {
        try simulation.runToEnd()
        return nil
    } catch {
        return error
    }
}

/// Returns the smallest world that still breaks a rule, by leaving out parts of the script.
package func shrink(_ world: SimulatedWorld, while fails: (SimulatedWorld) -> Bool) -> SimulatedWorld {
    var smallest = world
    smallest.script = shrink(world.script) { script in
        var candidate = world
        candidate.script = script
        return fails(candidate)
    }
    return smallest
}

/// Returns the shortest part of a list that still fails, by leaving elements out: halves first, single ones last.
///
/// ```swift
/// let smallest = shrink(jobs) { jobs in breaksTheRule(jobs) }
/// ```
///
/// The result fails, and no single element of it can be left out.
///
/// - Complexity: O(n log n) calls if little can be left out, far fewer otherwise.
package func shrink<Element>(_ elements: [Element], while fails: ([Element]) -> Bool) -> [Element] {
    var smallest = elements
    var chunk = max(1, elements.count / 2)
    while true {
        var start = 0
        var shrank = false
        while start < smallest.count {
            var candidate = smallest
            candidate.removeSubrange(start..<min(start + chunk, candidate.count))
            if fails(candidate) {
                smallest = candidate
                shrank = true
            } else {
                start += chunk
            }
        }
        if chunk == 1, !shrank { return smallest }
        chunk = max(1, chunk / 2)
    }
}

/// Returns a report on a world that breaks a rule: the rule, and the shrunk world as source. `nil` if it breaks none.
package func failureReport(
    of world: SimulatedWorld, named name: String, judgedBy judge: (SimulatedWorld) -> (any AdmissionJudge)?
) -> String? {
    guard let first = violation(of: world, judgedBy: judge) else { return nil }
    let smallest = shrink(world) { violation(of: $0, judgedBy: judge) != nil }
    let rule = violation(of: smallest, judgedBy: judge) ?? first
    return "\(name): \(rule)\nreproduction, \(smallest.script.count) of \(world.script.count) events:\n"
        + smallest.reproduction
}
