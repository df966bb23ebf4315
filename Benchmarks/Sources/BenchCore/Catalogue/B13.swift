extension Catalogue {
    /// Operations.
    static let b13 = Benchmark(id: "B13", title: "operations: add to a suspended queue, resume, run, release") {
        scope in
        let seconds = scope.isQuick ? 0.6 : 3
        return [
            operations(CaseName("independent", ["operations": 100_000]), seconds, throughput: .atLeast(2.5)),
            operations(CaseName("chain", ["operations": 10_000]), seconds, throughput: .atLeast(100)),
            operations(CaseName("grid", ["side": 100]), seconds, throughput: nil),
            longChain(seconds),
        ]
    }

    private static func operations(_ name: CaseName, _ seconds: Double, throughput: Target?) -> Experiment {
        let ours = Series(.oursByPreference, name, seconds: seconds)
        let foundation = Series(.foundation, name, seconds: seconds)
        var rules = Rules()
        rules.show(
            [ours, foundation], ["ns_per_op", "add_ns_per_op", "run_ns_per_op", "release_ns_per_op", "bytes_per_op"])
        rules.show([ours], ["allocations_per_op"])
        rules.advantage("throughput_over_foundation", "ns_per_op", of: ours, over: foundation, throughput)
        rules.ratio("bytes_over_foundation", "bytes_per_op", ours, over: foundation, .atMost(0.6))
        return Experiment(name.description, [ours, foundation], rules.all)
    }

    /// A million: a chain of 100 000 ends Foundation's process. Linear: it costs per operation what the short one does.
    private static func longChain(_ seconds: Double) -> Experiment {
        let long = Series(.oursByPreference, CaseName("chain", ["operations": 1_000_000]), seconds: seconds)
        let short = Series(.oursByPreference, CaseName("chain", ["operations": 10_000]), seconds: seconds)
        var rules = Rules()
        rules.show([long], ["ns_per_op", "add_ns_per_op", "run_ns_per_op", "release_ns_per_op", "bytes_per_op"])
        rules.ratio("ns_over_short_chain", "ns_per_op", long, over: short, .atMost(3))
        return Experiment("long-chain", [long, short], rules.all)
    }
}
