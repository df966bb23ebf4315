extension Catalogue {
    /// Starvation.
    static let b6 = Benchmark(id: "B6", title: "two high classes saturate: waits and shares of the low ones") { scope in
        let seconds = scope.isQuick ? 1.5 : 4
        let alone = executors.map { Series($0, CaseName("starvation", ["low": 0]), seconds: seconds) }
        let loaded = executors.map { Series($0, CaseName("starvation", ["low": 1]), seconds: seconds) }
        var rules = Rules()
        // The worst-case wait of the class and one job of the benchmark's own.
        for (qosClass, wait) in [("default", 75.5), ("utility", 150.5), ("background", 250.5)] {
            for one in loaded {
                rules.value(
                    "longest_wait_\(qosClass)_ms", one, "longest_wait_\(qosClass)_ms",
                    one.peer == .defaultExecutor ? nil : .atMost(wait))
                rules.value("share_\(qosClass)", one, "share_\(qosClass)", nil)
            }
        }
        for (one, without) in zip(loaded, alone) {
            rules.show([one], ["high_turn_p99_us"])
            rules.ratio(
                "high_turn_p99_over_alone", "high_turn_p99_us", one, over: without,
                one.peer == .defaultExecutor ? nil : .atMost(1.05))
        }
        return [Experiment("starvation", alone + loaded, rules.all)]
    }

    /// Blocking, declared and not.
    static let b7 = Benchmark(id: "B7", title: "jobs block for 1.5 s: the next job of their class") { scope in
        [2, 16].flatMap { jobs in
            [
                blocking("declared", jobs, scope.isQuick ? [.ours] : ways, nextJob: .atMost(250)),
                blocking(
                    "undeclared", jobs, scope.isQuick ? [.ours, .defaultExecutor] : executors, nextJob: .atMost(5000)),
            ]
        }
    }

    private static func blocking(
        _ name: String, _ jobs: Double, _ peers: [PeerKind], nextJob: Target
    ) -> Experiment {
        let all = peers.map { Series($0, CaseName(name, ["jobs": jobs]), seconds: 1.7) }
        var rules = Rules()
        for one in all {
            let isOurs = one.peer != .defaultExecutor
            rules.value("next_job_us", one, "next_job_us", isOurs ? nextJob : nil)
            rules.value("queued_job_us", one, "queued_job_us", isOurs ? nextJob : nil)
            rules.value("extra_threads", one, "extra_threads", isOurs ? .atMost(64) : nil)
        }
        return Experiment("\(name),jobs=\(Numerals.short(jobs))", all, rules.all)
    }

    /// A lock between a high and a low class.
    static let b14 = Benchmark(id: "B14", title: "a lock shared by high and background") { scope in
        [0.25, 0.5].flatMap { load in
            (["lock", "malloc", "sqlite"] + (scope.isQuick ? [] : ["own-mutex", "own-operations", "own-widths"])).map {
                hiddenLock($0, load, scope)
            }
        }
    }

    private static func hiddenLock(_ name: String, _ load: Double, _ scope: Benchmark.Scope) -> Experiment {
        // Locks of ours are not on other executors.
        let peers = name.hasPrefix("own-") ? ways : executors
        let all = (scope.isQuick && name != "lock" ? [.ours, .defaultExecutor] : peers).map {
            Series($0, CaseName(name, ["rho": load]), seconds: scope.isQuick ? 0.8 : 4)
        }
        var rules = Rules()
        rules.show(all, ["lock_wait_p50_us", "lock_wait_p99_us", "sojourn_p99_us"])
        for one in all {
            let isOurs = one.peer != .defaultExecutor
            rules.value("lock_wait_p999_us", one, "lock_wait_p999_us", isOurs ? .atMost(5000) : nil)
            rules.value("lock_wait_max_us", one, "lock_wait_max_us", isOurs ? .atMost(20_000) : nil)
        }
        return Experiment("\(name),rho=\(load)", all, rules.all)
    }
}
