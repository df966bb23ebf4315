/// Runs a world with the oracle and all invariants; the violation, if any.
func violation(of world: SimulatedWorld, slack: Int64 = 0) -> SimulationViolation? {
    var simulation = AdmissionSimulation(world)
    simulation.slack = slack
    do throws(SimulationViolation) {
        try simulation.runToEnd()
        return nil
    } catch {
        return error
    }
}

/// The smallest world that still breaks a rule, by leaving out parts of the script: halves first, single events last.
///
/// Complexity: O(events · log(events)) runs where little can be left out, far fewer otherwise.
func shrink(_ world: SimulatedWorld, while fails: (SimulatedWorld) -> Bool) -> SimulatedWorld {
    var smallest = world
    var chunk = max(1, world.script.count / 2)
    while true {
        var start = 0
        var shrank = false
        while start < smallest.script.count {
            var candidate = smallest
            candidate.script.removeSubrange(start..<min(start + chunk, candidate.script.count))
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

/// What to print about a world that breaks a rule: the rule, and the shrunk world as source; `nil` when it breaks none.
func failureReport(of world: SimulatedWorld, named name: String) -> String? {
    guard let first = violation(of: world) else { return nil }
    let smallest = shrink(world) { violation(of: $0) != nil }
    let rule = violation(of: smallest) ?? first
    return "\(name): \(rule)\nreproduction, \(smallest.script.count) of \(world.script.count) events:\n"
        + smallest.reproduction
}
