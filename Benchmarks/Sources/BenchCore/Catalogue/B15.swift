extension Catalogue {
    /// Locks.
    static let b15 = Benchmark(id: "B15", title: "locks: alone, from hand to hand, and in a crowd") { scope in
        let seconds = scope.isQuick ? 0.2 : 1
        return [uncontended(seconds), handedOver(scope.isQuick ? 0.5 : 2)]
            + [("async-mutex", "actor-1"), ("async-semaphore", "actor-4")].map { crowded($0, beside: $1, seconds) }
    }

    /// The lock is uncontended. The standard library's mutex and the C library's beside ours, in the same process-wide
    /// runtime.
    private static func uncontended(_ seconds: Double) -> Experiment {
        func series(_ name: String) -> Series { Series(.ours, CaseName(name), seconds: seconds) }
        let (ours, mutex, pthread) = (series("qos-mutex"), series("mutex"), series("pthread-mutex"))
        let forTasks = [series("async-mutex"), series("async-semaphore")]
        let all = [ours, mutex, pthread] + forTasks
        var rules = Rules()
        for one in all { rules.show([one], ["ns_per_op"], prefix: "\(one.caseName.name)_") }
        rules.ratio("ns_over_mutex", "ns_per_op", ours, over: mutex, .atMost(2))
        rules.ratio("ns_over_pthread_mutex", "ns_per_op", ours, over: pthread)
        rules.value("allocations_per_op", ours, "allocations_per_op", .atMost(0.01))
        for one in forTasks {
            rules.value("\(one.caseName.name)_allocations_per_op", one, "allocations_per_op", .atMost(0.01))
        }
        return Experiment("uncontended", all, rules.all)
    }

    /// Two threads want it in turn, and the one that waits sleeps: from the release to the other's having it.
    private static func handedOver(_ seconds: Double) -> Experiment {
        let all = ["qos-mutex", "mutex", "pthread-mutex"].map {
            Series(.ours, CaseName("handover-\($0)"), seconds: seconds)
        }
        var rules = Rules()
        for one in all { rules.show([one], ["handover_p50_us", "handover_p99_us"], prefix: "\(one.caseName.name)_") }
        rules.ratio("handover_p50_over_mutex", "handover_p50_us", all[0], over: all[1])
        return Experiment("handed-over", all, rules.all)
    }

    /// Many tasks take the lock, yield and give it back, beside a semaphore with as many permits on a plain actor.
    private static func crowded(_ name: String, beside plain: String, _ seconds: Double) -> Experiment {
        func series(_ peer: PeerKind, _ name: String, tasks: Double) -> Series {
            Series(peer, CaseName("crowd-\(name)", ["tasks": tasks]), seconds: seconds)
        }
        let (few, many) = (1000.0, 80_000.0)
        var all: [Series] = []
        var rules = Rules()
        for peer in ways {
            for tasks in [few, many] {
                let prefix = "tasks=\(Numerals.short(tasks))_"
                let (ours, actor) = (series(peer, name, tasks: tasks), series(peer, plain, tasks: tasks))
                all += [ours, actor]
                rules.show([ours], ["ns_per_op", "allocations_per_op"], prefix: prefix)
                rules.show([actor], ["ns_per_op"], prefix: "\(prefix)actor_")
                rules.ratio("\(prefix)ns_over_actor", "ns_per_op", ours, over: actor, .atMost(2))
            }
            rules.ratio(
                "ns_of_many_over_few", "ns_per_op", series(peer, name, tasks: many),
                over: series(peer, name, tasks: few), .atMost(1.5))
        }
        return Experiment("crowd-\(name)", all, rules.all)
    }
}
