import BenchCore

/// Prints results: a table for people, or a line of JSON for each figure.
struct Report {
    let asJSON: Bool

    func begin(_ environment: Environment) {
        let text = """
            Linux \(environment.kernel), HZ \(environment.tickRate), \(environment.processors) × \
            \(environment.processorModel), Swift \(environment.swift), \(environment.privilege)
            """
        guard asJSON else {
            Output.line(text)
            for cost in environment.costs { Output.line("  \(cost.name): \(Numerals.rounded(cost.nanoseconds))") }
            return
        }
        Output.note(text)
        for cost in environment.costs {
            let figure = Figure(value: cost.nanoseconds, minimum: cost.nanoseconds, maximum: cost.nanoseconds)
            Output.line(
                ResultLine(
                    benchmark: "costs", caseName: environment.privilege, metric: cost.name, figure: figure,
                    target: nil
                ).json)
        }
    }

    func add(
        _ outcome: Runner.Outcome, _ experiment: Experiment, _ benchmark: Benchmark, _ environment: Environment
    ) {
        let repetitions = outcome.runs.values.map(\.count).max() ?? 0
        if !asJSON {
            Output.line("\n\(benchmark.id) \(experiment.name), \(environment.privilege): \(repetitions) repetitions")
        }
        for rule in experiment.rules {
            guard let figure = rule.evaluate(outcome.runs) else {
                Output.note("\(benchmark.id) \(experiment.name): no figure for \(rule.metric) of \(rule.peer.rawValue)")
                continue
            }
            let line = ResultLine(
                benchmark: benchmark.id, caseName: "\(experiment.name),\(environment.privilege)",
                metric: "\(rule.metric)[\(rule.peer.rawValue)]", figure: figure, target: rule.target)
            Output.line(asJSON ? line.json : line.row)
        }
        for failure in outcome.failures { Output.note(failure) }
        if outcome.discarded > 0 || outcome.noisy > 0 {
            Output.note(
                "\(benchmark.id) \(experiment.name): \(outcome.discarded) runs discarded because others were busy, "
                    + "\(outcome.noisy) count although they were")
        }
    }
}
