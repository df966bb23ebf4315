extension Catalogue {
    /// Promotion of a running job.
    static let b4 = Benchmark(id: "B4", title: "a running background job is awaited by userInitiated") { scope in
        let all = executors.map { Series($0, CaseName("running"), seconds: scope.isQuick ? 1.5 : 4) }
        var rules = Rules()
        rules.show(all, ["end_p50_us", "end_max_us"])
        for ours in all.prefix(2) {
            // 1.6 and 1.25 times the 10 ms that are left.
            rules.value("median_end_us", ours, "end_p50_us", .atMost(scope.isUnprivileged ? 12_500 : 16_000))
            rules.ratio("end_p50_over_default", "end_p50_us", ours, over: all[2])
        }
        return [Experiment("running", all, rules.all)]
    }

    /// Promotion of waiting work.
    static let b5 = Benchmark(id: "B5", title: "queued background work is awaited by userInitiated") { scope in
        ["task", "default-actor", "serial-executor"].map { name in
            let standard = Series(
                .defaultExecutor, CaseName(name == "serial-executor" ? "default-actor" : name),
                seconds: scope.isQuick ? 0.6 : 3)
            let ours = ways.map { Series($0, CaseName(name), seconds: scope.isQuick ? 0.6 : 3) }
            var rules = Rules()
            rules.show(ours + [standard], ["start_p50_us", "start_max_us"])
            for one in ours {
                rules.value("latest_start_us", one, "start_max_us", .atMost(2000))
                rules.ratio("start_p50_over_default", "start_p50_us", one, over: standard)
            }
            return Experiment(name, ours + [standard], rules.all)
        } + QueuedState.allCases.map { inState($0, scope) }
            + [explicitRaise(scope), serialQueue(scope.isQuick ? 1 : 3), operationChain(scope)]
    }

    /// A queued task in one state: awaited, raised, and raised to a class that has run nothing before.
    private static func inState(_ state: QueuedState, _ scope: Benchmark.Scope) -> Experiment {
        func series(_ peer: PeerKind, _ name: String) -> Series {
            Series(peer, CaseName(name, ["state": Double(state.number)]), seconds: scope.isQuick ? 0.1 : 1.5)
        }
        var all: [Series] = []
        var rules = Rules()
        for peer in ways {
            let (awaited, raised, first) = (
                series(peer, "awaited"), series(peer, "raised"), series(peer, "raised-first")
            )
            all += [awaited, raised, first]
            rules.show([awaited], ["start_p50_us", "void_samples"], prefix: "awaited_")
            rules.value("awaited_latest_start_us", awaited, "start_max_us", .atMost(2000))
            rules.show([raised], ["start_max_us", "void_samples"], prefix: "raised_")
            rules.value("raised_median_start_us", raised, "start_p50_us", .atMost(100))
            // It includes the start of the class's first thread.
            rules.show([first], ["start_p50_us", "void_samples"], prefix: "raised_first_")
        }
        if !state.isOurs, !scope.isQuick {
            let standard = series(.defaultExecutor, "awaited")
            all.append(standard)
            rules.show([standard], ["start_p50_us", "start_max_us"], prefix: "awaited_")
        }
        return Experiment("state=\(state.rawValue)", all, rules.all)
    }

    /// One of many waiting jobs is raised; beside few, which shows whether the cost depends on their number.
    private static func explicitRaise(_ scope: Benchmark.Scope) -> Experiment {
        func series(_ peer: PeerKind, waiting: Double) -> Series {
            Series(peer, CaseName("raise", ["waiting": waiting]), seconds: scope.isQuick ? 0.5 : 2)
        }
        let many = ways.map { series($0, waiting: 100_000) }
        let few = ways.map { series($0, waiting: 1000) }
        var rules = Rules()
        rules.show(many, ["raise_p50_us", "raise_p99_us", "start_p50_us", "start_max_us"])
        for (many, few) in zip(many, few) {
            rules.value("start_p99_us", many, "start_p99_us", .atMost(100))
            // More than memory that is no longer in a cache is not explained by the number.
            rules.ratio("raise_p50_over_thousand", "raise_p50_us", many, over: few, .atMost(2))
        }
        return Experiment("raise", many + few, rules.all)
    }

    /// A high item behind a thousand on a serial queue.
    private static func serialQueue(_ seconds: Double) -> Experiment {
        let ours = Series(.ours, CaseName("serial-queue"), seconds: seconds)
        var rules = Rules()
        rules.show([ours], ["submission_p50_us", "submission_max_us", "start_p50_us", "start_max_us"])
        // 200 ns for each of the thousand.
        rules.value("submission_us", ours, "submission_p50_us", .atMost(200))
        rules.value("median_start_us", ours, "start_p50_us", .atMost(100))
        return Experiment("serial-queue", [ours], rules.all)
    }

    /// A chain of 1000 operations whose last one is raised, and with it all its dependencies.
    private static func operationChain(_ scope: Benchmark.Scope) -> Experiment {
        let ours = Series(
            .oursByPreference, CaseName("operation-chain", ["operations": 1000]), seconds: scope.isQuick ? 0.5 : 2)
        var rules = Rules()
        rules.value("ns_per_promoted_operation", ours, "ns_per_op", .atMost(200))
        return Experiment("operation-chain", [ours], rules.all)
    }
}
