extension Catalogue {
    /// Threads of libraries.
    static let b19 = Benchmark(id: "B19", title: "libraries' threads that background work has made") { scope in
        ["echo", "read"].map { way in
            func series(_ peer: PeerKind, low: Double, inherit: Double = 0) -> Series {
                Series(
                    peer, CaseName(way, ["low": low, "inherit": inherit]), seconds: scope.isQuick ? 1 : 4)
            }
            var all: [Series] = []
            var rules = Rules()
            for peer in executors {
                let (alone, loaded) = (series(peer, low: 0), series(peer, low: 1))
                all += [alone, loaded]
                rules.show([alone], ["request_p50_us", "request_p99_us"], prefix: "alone_")
                rules.show([loaded], ["request_p50_us", "request_p99_us"])
                rules.ratio(
                    "p99_over_alone", "request_p99_us", loaded, over: alone, ways.contains(peer) ? .atMost(1.2) : nil)
            }
            for peer in ways {
                let inheriting = series(peer, low: 1, inherit: 1)
                all.append(inheriting)
                rules.show([inheriting], ["request_p50_us", "request_p99_us"], prefix: "inheriting_")
                rules.advantage(
                    "p99_inheriting_over_ours", "request_p99_us", of: series(peer, low: 1), over: inheriting)
            }
            return Experiment(way, all, rules.all)
        }
    }
}
