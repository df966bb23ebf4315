extension Catalogue {
    /// The loaded foreground.
    static let b1 = Benchmark(id: "B1", title: "loaded foreground: 300 µs jobs beside low work") { scope in
        if scope.isCurve {
            return curveLoads.map { curve($0, seconds: scope.isQuick ? 0.4 : 3, others: scope.others) }
        }
        let loads = scope.isQuick ? [0.5, 0.75] : [0.05, 0.25, 0.5, 0.75]
        return loads.map { loaded($0, scope) }
    }

    /// The loads of the picture.
    private static let curveLoads = [0.05, 0.15, 0.25, 0.35, 0.5, 0.6, 0.75]

    /// One load of the picture: all peers beside low work, and ours alone.
    private static func curve(_ load: Double, seconds: Double, others: [PeerKind]) -> Experiment {
        func series(_ peer: PeerKind, low: Double) -> Series {
            Series(peer, CaseName("foreground", ["rho": load, "low": low]), seconds: seconds)
        }
        let sojourn = ["sojourn_p50_us", "sojourn_p99_us"]
        let alone = series(.ours, low: 0)
        let loaded = (executors + [.nio] + others).map { series($0, low: 0.5) }
        var rules = Rules()
        rules.show([alone], sojourn, prefix: "alone_")
        rules.show(loaded, sojourn + ["residual_fraction"])
        return Experiment("curve,rho=\(load)", [alone] + loaded, rules.all)
    }

    private static func loaded(_ load: Double, _ scope: Benchmark.Scope) -> Experiment {
        func series(_ peer: PeerKind, low: Double) -> Series {
            Series(peer, CaseName("foreground", ["rho": load, "low": low]), seconds: scope.isQuick ? 0.7 : 3)
        }
        let sojourn = ["sojourn_p50_us", "sojourn_p99_us", "sojourn_p999_us"]
        let others = [.nio] + scope.others
        var all: [Series] = []
        var rules = Rules()
        for peer in executors + (scope.isQuick ? [] : others) {
            let alone = series(peer, low: 0)
            all.append(alone)
            rules.show([alone], sojourn + arrival(peer), prefix: "alone_")
        }
        for low in [0.5, 10] {
            let name = "low=\(Numerals.short(low))ms_"
            // Within a minute there is time for the others' short pieces only.
            let peers = scope.isQuick && low == 10 ? ways : executors + others
            for peer in peers {
                let loaded = series(peer, low: low)
                all.append(loaded)
                rules.show([loaded], sojourn + arrival(peer), prefix: name)
                let isOurs = ways.contains(peer)
                rules.value(
                    "\(name)residual_fraction", loaded, "residual_fraction", isOurs ? residualTarget(load) : nil)
                if all.contains(series(peer, low: 0)) {
                    rules.ratio(
                        "\(name)p99_over_alone", "sojourn_p99_us", loaded, over: series(peer, low: 0),
                        isOurs ? aloneTarget(load) : nil)
                }
                if isOurs {
                    // An executor that is slow when it is alone must not look good for it.
                    rules.ratio(
                        "\(name)p99_over_default_alone", "sojourn_p99_us", loaded,
                        over: series(.defaultExecutor, low: 0), aloneTarget(load))
                }
            }
            for peer in ways where peers.contains(.defaultExecutor) {
                for key in ["p50", "p99"] {
                    rules.advantage(
                        "\(name)\(key)_default_over_ours", "sojourn_\(key)_us", of: series(peer, low: low),
                        over: series(.defaultExecutor, low: low),
                        load == 0.5 && key == "p99" ? .atLeast(500) : nil)
                }
            }
        }
        return Experiment("rho=\(load)", all, rules.all)
    }

    /// What is shown of the thread that submits; Go has none.
    private static func arrival(_ peer: PeerKind) -> [String] {
        ["arrival_p99_us"] + (peer == .go ? [] : ["outside_cores"])
    }

    private static func aloneTarget(_ load: Double) -> Target? {
        switch load {
        case 0.5: .atMost(1.15)
        case 0.75: .atMost(1.25)
        default: nil
        }
    }

    private static func residualTarget(_ load: Double) -> Target? {
        switch load {
        case 0.5: .atLeast(0.93)
        case 0.75: .atLeast(0.88)
        default: nil
        }
    }
}
