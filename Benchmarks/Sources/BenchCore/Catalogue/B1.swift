extension Catalogue {
    /// The loaded foreground.
    static let b1 = Benchmark(id: "B1", title: "loaded foreground: 300 µs jobs beside low work") { scope in
        if scope.isCurve {
            return curveLoads.map { curve($0, seconds: scope.isQuick ? 0.4 : 3, others: scope.others) }
        }
        if scope.isQuick {
            return [0.5, 0.75].map { loaded(Cell(.userInitiated, $0), executors, scope) }
                + [loaded(Cell(.userInteractive, 0.75), executors, scope)]
        }
        let short = Foreground.allCases.flatMap { foreground in
            [Submitter.realTime, .ordinary].flatMap { submitter in
                [0.05, 0.25, 0.5, 0.75, 0.9].map { load in
                    loaded(Cell(foreground, load, submitter), peers(foreground, submitter, scope), scope)
                }
            }
        }
        let long = [Foreground.userInteractive, .userInitiated].flatMap { foreground in
            [0.5, 0.75].map { loaded(Cell(foreground, $0, piece: 10), executors, scope) }
        }
        let background = [0.25, 0.5].flatMap { load in
            [Submitter.realTime, .ordinary].map { submitter in
                loaded(Cell(.userInitiated, load, submitter, isBesideBackground: true), executors, scope)
            }
        }
        return short + long + background
    }

    /// The thread that submits the jobs.
    private enum Submitter: Double {
        case ordinary = 0
        case realTime = 1
    }

    /// One cell of the table: the jobs' classes, their load, the thread that submits them, the length of the low work's
    /// pieces.
    private struct Cell {
        let foreground: Foreground
        let load: Double
        let submitter: Submitter
        /// Milliseconds.
        let piece: Double
        /// Whether the low work is background alone, and not all three lower classes.
        let isBesideBackground: Bool

        init(
            _ foreground: Foreground, _ load: Double, _ submitter: Submitter = .realTime, piece: Double = 0.5,
            isBesideBackground: Bool = false
        ) {
            (self.foreground, self.load, self.submitter, self.piece) = (foreground, load, submitter, piece)
            self.isBesideBackground = isBesideBackground
        }

        var name: String {
            "\(foreground.title),rho=\(load),submitter=\(submitter == .realTime ? "real-time" : "ordinary"),"
                + "low=\(Numerals.short(piece))ms" + (isBesideBackground ? ",beside=background" : "")
        }

        func series(_ peer: PeerKind, isAlone: Bool, _ scope: Benchmark.Scope) -> Series {
            let caseName = CaseName(
                foreground.rawValue,
                [
                    "rho": load, "low": isAlone ? 0 : piece, "submitter": submitter.rawValue,
                    "beside": isBesideBackground ? 1 : 0,
                ])
            return Series(peer, caseName, seconds: scope.isQuick ? 0.7 : 3)
        }
    }

    /// Executors without classes are measured once. Other languages' programs have no ordinary submitter.
    private static func peers(
        _ foreground: Foreground, _ submitter: Submitter, _ scope: Benchmark.Scope
    ) -> [PeerKind] {
        switch (foreground, submitter) {
        case (.userInteractive, .realTime): executors + [.nio] + scope.others
        case (.userInteractive, .ordinary), (.userInitiated, .realTime): executors
        default: ways
        }
    }

    /// Alone and loaded runs take turns, peer by peer.
    private static func loaded(_ cell: Cell, _ peers: [PeerKind], _ scope: Benchmark.Scope) -> Experiment {
        var all: [Series] = []
        var rules = Rules()
        let classes =
            cell.foreground == .both ? ["userInteractive_sojourn_p99_us", "userInitiated_sojourn_p99_us"] : []
        let sojourn = ["sojourn_p50_us", "sojourn_p99_us", "sojourn_p999_us"] + classes
        for peer in peers {
            let alone = cell.series(peer, isAlone: true, scope)
            let loaded = cell.series(peer, isAlone: false, scope)
            let isOurs = ways.contains(peer)
            all += [alone, loaded]
            rules.show([alone], sojourn + arrival(peer), prefix: "alone_")
            rules.show([loaded], sojourn + arrival(peer) + ["stolen_ms"])
            rules.value("residual_fraction", loaded, "residual_fraction", isOurs ? residualTarget(cell.load) : nil)
            rules.ratio(
                "p99_over_alone", "sojourn_p99_us", loaded, over: alone, isOurs ? p99Target(cell.load) : nil)
            rules.ratio(
                "p999_over_alone", "sojourn_p999_us", loaded, over: alone,
                isOurs && cell.load == 0.5 ? .atMost(1.5) : nil)
            if isOurs { rules.runsAbove(3, "bad_runs", "sojourn_p99_us", loaded, over: alone) }
        }
        for peer in ways where peers.contains(.defaultExecutor) {
            let loaded = cell.series(peer, isAlone: false, scope)
            // An executor that is slow when it is alone must not look good for it.
            rules.ratio(
                "p99_over_default_alone", "sojourn_p99_us", loaded,
                over: cell.series(.defaultExecutor, isAlone: true, scope))
            rules.advantage(
                "p99_default_over_ours", "sojourn_p99_us", of: loaded,
                over: cell.series(.defaultExecutor, isAlone: false, scope))
        }
        return Experiment(cell.name, all, rules.all)
    }

    /// The figures of the submitting thread; Go has none.
    private static func arrival(_ peer: PeerKind) -> [String] {
        ["arrival_p99_us"] + (peer == .go ? [] : ["outside_cores"])
    }

    private static func p99Target(_ load: Double) -> Target? {
        switch load {
        case 0.5: .atMost(1.15)
        case 0.75: .atMost(1.25)
        case 0.9: .atMost(2)
        default: nil
        }
    }

    private static func residualTarget(_ load: Double) -> Target? {
        switch load {
        case 0.5: .atLeast(0.92)
        case 0.75: .atLeast(0.86)
        default: nil
        }
    }
}

extension Catalogue {
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
}
