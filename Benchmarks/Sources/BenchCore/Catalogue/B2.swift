extension Catalogue {
    /// Two hops: timer, loop, worker.
    static let b2 = Benchmark(id: "B2", title: "timer, loop, worker at 1 kHz") { scope in
        [2, 4].map { spinners in
            let caseName = CaseName("two-hops", ["spinners": spinners])
            let all = (executors + [.floor]).map { Series($0, caseName, seconds: scope.isQuick ? 1 : 4) }
            var rules = Rules()
            rules.show(all, ["wake_p50_us", "wake_p99_us", "wake_p999_us"])
            for ours in all.prefix(2) {
                rules.ratio("p50_over_floor", "wake_p50_us", ours, over: all[3], .atMost(1.25))
                rules.ratio("p99_over_floor", "wake_p99_us", ours, over: all[3], .atMost(2))
                rules.value("p99_us", ours, "wake_p99_us", .atMost(100))
                rules.ratio("p99_over_default", "wake_p99_us", ours, over: all[2])
            }
            return Experiment("spinners=\(Numerals.short(spinners))", all, rules.all)
        }
    }
}
