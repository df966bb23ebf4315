extension Catalogue {
    /// The disk.
    static let b9 = Benchmark(id: "B9", title: "foreground reads beside background file I/O") { scope in
        let all = ["free", "plain", "lowest", "idle", "polite", "file"]
        var experiments = [
            disk("userInitiated, both", ["fg": 25, "mix": 0], all, scope),
            disk(
                "userInteractive, both", ["fg": 33, "mix": 0], scope.isQuick ? ["free", "idle", "polite"] : all, scope),
        ]
        for (mix, name) in [(1.0, "reads"), (2, "writes"), (3, "syncs")] {
            experiments.append(
                disk("userInitiated, \(name)", ["fg": 25, "mix": mix], ["free", "idle", "polite", "file"], scope))
        }
        return experiments
    }

    private static func disk(
        _ name: String, _ parameters: KeyValuePairs<String, Double>, _ names: [String], _ scope: Benchmark.Scope
    ) -> Experiment {
        let seconds = scope.isQuick ? 2.0 : 5
        func series(_ name: String) -> Series { Series(.ours, CaseName(name, parameters), seconds: seconds) }
        let (alone, free) = (series("alone"), series("free"))
        var rules = Rules()
        rules.value("alone_read_p50_us", alone, "read_p50_us", nil)
        rules.value("alone_read_p99_us", alone, "read_p99_us", nil)
        for name in names {
            let (one, isOurs) = (series(name), name == "polite" || name == "file")
            rules.value("\(name)_read_p50_us", one, "read_p50_us", nil)
            rules.value("\(name)_read_p99_us", one, "read_p99_us", nil)
            rules.value("\(name)_background_mb_per_second", one, "background_mb_per_second", nil)
            rules.ratio("\(name)_p99_over_alone", "read_p99_us", one, over: alone, isOurs ? .atMost(3) : nil)
            guard name != "free" else { continue }
            rules.ratio(
                "\(name)_background_over_free", "background_mb_per_second", one, over: free,
                isOurs ? .atLeast(0.25) : nil)
        }
        return Experiment("disk, \(name)", [alone] + names.map(series), rules.all)
    }

    /// Governance.
    static let b11 = Benchmark(id: "B11", title: "a thermal event stops background, and its end resumes it") { _ in
        let one = Series(.ours, CaseName("thermal"), seconds: 3)
        var rules = Rules()
        // A job takes half a millisecond.
        rules.value("stop_ms", one, "stop_ms", .atMost(10.5))
        rules.value("resume_ms", one, "resume_ms", .atMost(10.5))
        return [Experiment("thermal", [one], rules.all)]
    }
}
