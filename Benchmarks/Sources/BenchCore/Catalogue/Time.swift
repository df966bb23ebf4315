extension Catalogue {
    /// Timers.
    static let b8 = Benchmark(id: "B8", title: "timers: wake-ups, lateness, memory") { scope in
        let seconds = scope.isQuick ? 1.5 : 4
        return [many("userInteractive", rank: 4, seconds), many("background", rank: 0, seconds), underLoad(seconds)]
            + [asleep(scope.isQuick ? 100_000 : 1_000_000)]
    }

    private static func many(_ name: String, rank: Double, _ seconds: Double) -> Experiment {
        let all = [PeerKind.ours, .defaultExecutor].map {
            Series($0, CaseName("many", ["rank": rank]), seconds: seconds)
        }
        var rules = Rules()
        rules.show(all, ["switches_per_second", "cpu_share", "late_p50_us", "late_p99_us"])
        rules.advantage(
            "switches_default_over_ours", "switches_per_second", of: all[0], over: all[1],
            rank == 0 ? .atLeast(20) : nil)
        rules.value("earliest_us", all[0], "earliest_us", .atLeast(0))
        return Experiment("10000 timers of \(name)", all, rules.all)
    }

    private static func underLoad(_ seconds: Double) -> Experiment {
        let all = executors.map { Series($0, CaseName("under-load"), seconds: seconds) }
        var rules = Rules()
        rules.show(all, ["late_p50_us"])
        for one in all {
            rules.value("late_p99_us", one, "late_p99_us", one.peer == .defaultExecutor ? nil : .atMost(100))
            rules.value("earliest_us", one, "earliest_us", one.peer == .defaultExecutor ? nil : .atLeast(0))
        }
        return Experiment("userInteractive timers under load", all, rules.all)
    }

    private static func asleep(_ tasks: Double) -> Experiment {
        let all = executors.map { Series($0, CaseName("asleep", ["tasks": tasks]), seconds: tasks > 100_000 ? 1 : 0.3) }
        var rules = Rules()
        rules.show(all, ["bytes_per_task", "fall_asleep_cpu_ns", "asleep_cpu_share", "cancel_cpu_ns"])
        for key in ["bytes_per_task", "fall_asleep_cpu_ns"] {
            rules.ratio("\(key)_over_default", key, all[0], over: all[2])
        }
        return Experiment("\(Numerals.short(tasks)) sleeping tasks", all, rules.all)
    }

    /// Idle, start and end.
    static let b12 = Benchmark(id: "B12", title: "idle, start-up and end") { scope in
        let all = executors.map { Series($0, CaseName("idle"), seconds: scope.isQuick ? 3 : 10) }
        var rules = Rules()
        for one in all {
            let isOurs = one.peer != .defaultExecutor
            rules.value("wakeups", one, "wakeups", isOurs ? .atMost(0) : nil)
            rules.value("cpu_us", one, "cpu_us", isOurs ? .atMost(0) : nil)
            rules.value("startup_ms", one, "startup_ms", nil)
            rules.value("exit_ms", one, "exit_ms", one.peer == .ours ? .atMost(5) : nil)
        }
        rules.value("shutdown_ms", all[1], "shutdown_ms", .atMost(5))
        rules.show(all, ["threads"])
        return [Experiment("idle", all, rules.all)]
    }
}
