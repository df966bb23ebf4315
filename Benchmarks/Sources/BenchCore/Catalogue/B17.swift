extension Catalogue {
    /// Growth.
    static let b17 = Benchmark(id: "B17", title: "growth: the cost of a job by the number of processors") { scope in
        [(1.0, 0.0), (1, 10), (5, 0), (5, 10)].map { growth(classes: $0, microseconds: $1, scope) }
    }

    /// Jobs of one class or of five, empty or with some work, on schedulers that count on more and more processors.
    private static func growth(classes: Double, microseconds: Double, _ scope: Benchmark.Scope) -> Experiment {
        let processors: [Double] = scope.isQuick ? [2, 8, 64] : [2, 4, 8, 16, 32, 64]
        let all = processors.map { count in
            Series(
                .oursByPreference, CaseName("jobs", ["classes": classes, "us": microseconds, "processors": count]),
                seconds: scope.isQuick ? 0.3 : 2)
        }
        var rules = Rules()
        for (count, one) in zip(processors, all) {
            let prefix = "processors=\(Numerals.short(count))_"
            rules.value(
                "\(prefix)cpu_ns_per_op", one, "cpu_ns_per_op",
                classes == 5 && microseconds == 10 ? .atMost(12_500) : nil)
            rules.show(
                [one],
                [
                    "switches_per_1000_ops", "parks_per_1000_ops", "steals_per_1000_ops", "moved_per_1000_ops",
                    "admission_per_1000_ops", "turns_per_1000_ops", "looks_per_1000_ops",
                ],
                prefix: prefix)
        }
        rules.ratio("cpu_of_most_over_least", "cpu_ns_per_op", all[all.count - 1], over: all[0])
        return Experiment("classes=\(Numerals.short(classes)),us=\(Numerals.short(microseconds))", all, rules.all)
    }
}
