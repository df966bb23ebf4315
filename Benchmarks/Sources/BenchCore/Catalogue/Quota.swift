extension Catalogue {
    /// Requests in a control group with a quota of processor time.
    static let quota = Benchmark(
        id: "QUOTA", title: "300 µs requests in a control group with a quota, beside low work"
    ) { scope in
        if scope.isQuick {
            return [cell(0.5, 0.4, low: 0.5, beside: 1, scope), cell(1, 0.4, low: 0.5, beside: 0, scope)]
        }
        var all: [Experiment] = []
        for quota in [0.5, 1, 1.5] {
            for (load, low) in [(0.2, 0.5), (0.4, 0.5), (0.6, 0.5), (0.4, 5)] {
                for beside in [1.0, 0] { all.append(cell(quota, load, low: low, beside: beside, scope)) }
            }
        }
        return all
    }

    /// One quota and load: alone and loaded, ours and the default executor.
    ///
    /// - Parameters:
    ///   - quota: processors.
    ///   - load: the share of the quota that the requests need.
    ///   - low: the length of the low work's pieces, milliseconds.
    ///   - beside: 1 for background alone, 0 for all three low classes.
    private static func cell(
        _ quota: Double, _ load: Double, low: Double, beside: Double, _ scope: Benchmark.Scope
    ) -> Experiment {
        func series(_ peer: PeerKind, _ low: Double) -> Series {
            let parameters: KeyValuePairs = ["quota": quota, "rho": load, "low": low, "beside": beside, "submitter": 0]
            return Series(peer, CaseName("requests", parameters), seconds: scope.isQuick ? 2 : 4)
        }
        let alone = series(.ours, 0)
        let loaded = [series(.ours, low), series(.defaultExecutor, low)]
        var rules = Rules()
        rules.show([alone], ["sojourn_p50_us", "sojourn_p99_us", "throttled_periods"], prefix: "alone_")
        rules.show(loaded, ["sojourn_p50_us", "sojourn_p99_us"])
        for one in loaded {
            let isOurs = one.peer == .ours
            rules.ratio(
                "p99_over_alone", "sojourn_p99_us", one, over: alone, isOurs ? .atMost(low < 1 ? 1.3 : 2) : nil)
            rules.value("throttled_periods", one, "throttled_periods", isOurs ? .atMost(0.02) : nil)
            // Beside what the requests use by themselves, with all that it costs to submit and to run them.
            rules.ratio(
                "low_over_left", "low_cores", one, over: alone, "left_cores", isOurs ? .atLeast(0.85) : nil)
            rules.value("residual_fraction", one, "residual_fraction", nil)
        }
        rules.advantage("p99_default_over_ours", "sojourn_p99_us", of: loaded[0], over: loaded[1])
        let name =
            "quota=\(Numerals.short(quota)),rho=\(load),low=\(Numerals.short(low))ms"
            + ",beside=\(beside == 1 ? "background" : "all")"
        return Experiment(name, [alone] + loaded, rules.all)
    }
}
