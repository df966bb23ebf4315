extension Catalogue {
    /// Growth.
    static let b17 = Benchmark(id: "B17", title: "growth: the cost of a job by the number of processors") { scope in
        [
            growth(classes: 1, microseconds: 0, submitter: 0, scope),
            growth(classes: 1, microseconds: 10, submitter: 0, scope),
            growth(classes: 5, microseconds: 0, submitter: 2, scope),
            growth(classes: 5, microseconds: 10, submitter: 2, scope),
            growth(classes: 5, microseconds: 10, submitter: 1, scope),
            growth(classes: 5, microseconds: 10, submitter: 0, scope),
        ]
    }

    /// Jobs of one class or of five, empty or with some work, on schedulers that count on more and more processors;
    /// beside them the default executor, which counts on the machine's.
    ///
    /// - Parameter submitter: 0 a task at `default`, whose jobs of higher classes preempt it one by one; 1 a thread that
    ///   is no worker; 2 a task of each class.
    private static func growth(
        classes: Double, microseconds: Double, submitter: Double, _ scope: Benchmark.Scope
    ) -> Experiment {
        let processors: [Double] = scope.isQuick ? [2, 8, 64] : [2, 4, 8, 16, 32, 64]
        let seconds = scope.isQuick ? 0.3 : 2
        func series(_ peer: PeerKind, _ count: Double) -> Series {
            let parameters: KeyValuePairs = [
                "classes": classes, "us": microseconds, "processors": count, "submitter": submitter,
            ]
            return Series(peer, CaseName("jobs", parameters), seconds: seconds)
        }
        let all = processors.map { series(.oursByPreference, $0) }
        let plain = series(.defaultExecutor, 2)
        var rules = Rules()
        rules.value("default_cpu_ns_per_op", plain, "cpu_ns_per_op", nil)
        for (count, one) in zip(processors, all) {
            let prefix = "processors=\(Numerals.short(count))_"
            rules.value(
                "\(prefix)cpu_ns_per_op", one, "cpu_ns_per_op",
                classes == 5 && microseconds == 10 ? .atMost(12_500) : nil)
            rules.ratio("\(prefix)cpu_over_default", "cpu_ns_per_op", one, over: plain)
            rules.show(
                [one],
                [
                    "switches_per_1000_ops", "parks_per_1000_ops", "steals_per_1000_ops", "moved_per_1000_ops",
                    "admission_per_1000_ops", "turns_per_1000_ops", "looks_per_1000_ops",
                ],
                prefix: prefix)
        }
        rules.ratio("cpu_of_most_over_least", "cpu_ns_per_op", all[all.count - 1], over: all[0])
        let names = [0: "task-at-default", 1: "outside-thread", 2: "task-of-each-class"]
        let name = "classes=\(Numerals.short(classes)),us=\(Numerals.short(microseconds))"
        return Experiment("\(name),from=\(names[Int(submitter)] ?? "")", all + [plain], rules.all)
    }
}
