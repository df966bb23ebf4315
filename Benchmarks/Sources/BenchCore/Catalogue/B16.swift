extension Catalogue {
    /// Ordinary operations.
    static let b16 = Benchmark(id: "B16", title: "ordinary operations beside the default executor") { scope in
        ordinary.map { name in
            let all = executors.map { Series($0, CaseName(name), seconds: scope.isQuick ? 0.2 : 1) }
            var rules = Rules()
            rules.show(all, ["ns_per_op", "cpu_ns_per_op", "switches_per_1000_ops"])
            rules.ratio("ns_over_default", "ns_per_op", all[0], over: all[2], .atMost(1.05))
            rules.ratio("ns_over_default", "ns_per_op", all[1], over: all[2])
            rules.ratio("cpu_over_default", "cpu_ns_per_op", all[0], over: all[2])
            return Experiment(name, all, rules.all)
        }
    }

    private static let ordinary = [
        "actor-call", "actor-contended", "stream", "stream-ping-pong", "async-let", "group-1000", "fan-out-8",
        "tasks-10000", "detached", "dispatch-continuation", "main-actor", "sleeps", "yield-one", "cancel-sleepers",
    ]
}
