extension Catalogue {
    /// Cost per job.
    static let b3 = Benchmark(id: "B3", title: "cost per job") { scope in
        let seconds = scope.isQuick ? 0.2 : 1
        return [
            cost("yield", seconds, .atMost(0.3), oneWorker: .atMost(1.2), others: scope.others),
            yield(tasks: 2, seconds),
            yield(tasks: 8, seconds),
            turns(),
            cost("group", seconds, .atMost(0.8), oneWorker: .atMost(1.2), others: scope.others),
            cost("detached", seconds, .atMost(0.65), oneWorker: .atMost(1.2), others: scope.others),
            // Go knows no thread that is not its own.
            cost("outside", seconds, nil, hasFloor: false, others: [.nio] + scope.others.filter { $0 != .go }),
            cost("hop-default-actor", seconds, hopTarget),
            hopToSerialExecutor(seconds),
            cost("hop-contended", seconds, nil),
            cost("ping-pong", seconds, nil),
            items(seconds),
            wake("wake-at-once", gapMicroseconds: 5, seconds),
            wake("wake-parked", gapMicroseconds: 300, seconds),
        ]
    }

    /// "Not slower", with 5 % for the layout of the program: a hop takes 20 to 40 ns.
    private static let hopTarget = Target.atMost(1.05)

    private static func cost(
        _ name: String, _ seconds: Double, _ target: Target?, oneWorker: Target? = nil, hasFloor: Bool = true,
        others: [PeerKind] = []
    ) -> Experiment {
        func series(_ peer: PeerKind) -> Series { Series(peer, CaseName(name), seconds: seconds) }
        let executors = PeerKind.executors.filter { hasFloor || $0 != .floor }.map(series)
        // Two runtimes differ from one where there are two kinds of work.
        let others = others.filter { $0 != .tokioNiced }.map(series)
        let all = executors + others
        var rules = Rules()
        rules.show(executors, ["ns_per_op", "cpu_ns_per_op", "allocations_per_op", "switches_per_1000_ops"])
        rules.show(others, ["ns_per_op", "cpu_ns_per_op"])
        if !hasFloor { rules.show(all, ["submit_cpu_ns_per_op"]) }
        for peer in [PeerKind.ours, .oursByPreference] {
            rules.ratio("ns_over_default", "ns_per_op", series(peer), over: series(.defaultExecutor), target)
        }
        guard hasFloor else { return Experiment(name, all, rules.all) }
        rules.ratio("ns_over_floor", "ns_per_op", series(.oursWithOneWorker), over: series(.floor), oneWorker)
        for peer in [PeerKind.ours, .oursByPreference] {
            rules.difference(
                "own_allocations_per_op", "allocations_per_op", series(peer), less: series(.floor), .atMost(0.01))
        }
        return Experiment(name, all, rules.all)
    }

    /// The cost of a yield with few tasks.
    private static func yield(tasks: Double, _ seconds: Double) -> Experiment {
        let all = [PeerKind.ours, .oursByPreference, .oursWithOneWorker, .defaultExecutor, .floor].map {
            Series($0, CaseName("yield-few", ["tasks": tasks]), seconds: seconds)
        }
        var rules = Rules()
        rules.show(all, ["ns_per_op", "switches_per_1000_ops"])
        for ours in all.prefix(2) { rules.ratio("ns_over_default", "ns_per_op", ours, over: all[3], .atMost(0.3)) }
        rules.ratio("ns_over_floor", "ns_per_op", all[2], over: all[4], .atMost(1.2))
        return Experiment("yield,tasks=\(Numerals.short(tasks))", all, rules.all)
    }

    /// Whether tasks that yield take turns: exactly, where there is one worker.
    private static func turns() -> Experiment {
        var all: [Series] = []
        var rules = Rules()
        for tasks in [2.0, 8, 100] {
            for peer in [PeerKind.oursWithOneWorker, .ours, .defaultExecutor] {
                let one = Series(peer, CaseName("turns", ["tasks": tasks]), seconds: 0.05)
                all.append(one)
                rules.value(
                    "tasks=\(Numerals.short(tasks))_out_of_order", one, "turns_out_of_order",
                    peer == .oursWithOneWorker ? .atMost(0) : nil)
                rules.show([one], ["longest_wait_in_turns"], prefix: "tasks=\(Numerals.short(tasks))_")
            }
        }
        return Experiment("turns", all, rules.all)
    }

    private static func hopToSerialExecutor(_ seconds: Double) -> Experiment {
        let ours = Series(.ours, CaseName("hop-serial-executor"), seconds: seconds)
        let contended = Series(.ours, CaseName("hop-serial-contended"), seconds: seconds)
        let standard = Series(.defaultExecutor, CaseName("hop-default-actor"), seconds: seconds)
        let standardContended = Series(.defaultExecutor, CaseName("hop-contended"), seconds: seconds)
        var rules = Rules()
        rules.show([ours, standard], ["ns_per_op"])
        rules.show([contended, standardContended], ["ns_per_op"], prefix: "contended_")
        rules.value("allocations_per_op", ours, "allocations_per_op", .atMost(0.01))
        rules.ratio("ns_over_default_actor", "ns_per_op", ours, over: standard, .atMost(3))
        rules.ratio("contended_ns_over_default_actor", "ns_per_op", contended, over: standardContended)
        return Experiment("hop-serial-executor", [ours, standard, contended, standardContended], rules.all)
    }

    /// Items of work queues, against the same number of bare tasks on our executor.
    private static func items(_ seconds: Double) -> Experiment {
        let tasks = Series(.ours, CaseName("item-tasks"), seconds: seconds)
        let queues = ["item-serial", "item-concurrent"].map { Series(.ours, CaseName($0), seconds: seconds) }
        let synchronous = Series(.ours, CaseName("item-sync"), seconds: seconds)
        var rules = Rules()
        rules.show([tasks] + queues + [synchronous], ["ns_per_op", "allocations_per_op"])
        for queue in queues { rules.ratio("ns_over_task", "ns_per_op", queue, over: tasks, .atMost(1.5)) }
        rules.value("sync_ns", synchronous, "ns_per_op", .atMost(100))
        rules.value("sync_allocations_per_op", synchronous, "allocations_per_op", .atMost(0.01))
        return Experiment("items", [tasks] + queues + [synchronous], rules.all)
    }

    private static func wake(_ name: String, gapMicroseconds: Double, _ seconds: Double) -> Experiment {
        let all = [PeerKind.ours, .oursByPreference, .defaultExecutor, .floor].map {
            Series($0, CaseName("wake", ["gap": gapMicroseconds]), seconds: seconds)
        }
        var rules = Rules()
        rules.show(all, ["wake_p50_us", "wake_p99_us"])
        rules.ratio("wake_p50_over_default", "wake_p50_us", all[0], over: all[2])
        rules.ratio("wake_p50_over_floor", "wake_p50_us", all[0], over: all[3])
        return Experiment(name, all, rules.all)
    }
}
