extension Catalogue {
    /// The disk.
    static let b9 = Benchmark(id: "B9", title: "foreground reads beside background file I/O") { scope in
        let seconds = scope.isQuick ? 2.0 : 5
        func series(_ name: String) -> Series { Series(.ours, CaseName(name), seconds: seconds) }
        let (alone, free) = (series("alone"), series("free"))
        var rules = Rules()
        rules.value("alone_read_p99_us", alone, "read_p99_us", nil)
        for (name, one) in [("free", free), ("idle", series("idle")), ("polite", series("polite"))] {
            let isOurs = name == "polite"
            rules.value("\(name)_read_p50_us", one, "read_p50_us", nil)
            rules.value("\(name)_read_p99_us", one, "read_p99_us", nil)
            rules.value("\(name)_background_mb_per_second", one, "background_mb_per_second", nil)
            rules.ratio("\(name)_p99_over_alone", "read_p99_us", one, over: alone, isOurs ? .atMost(3) : nil)
            rules.ratio(
                "\(name)_background_over_free", "background_mb_per_second", one, over: free,
                isOurs ? .atLeast(0.25) : nil)
        }
        return [Experiment("disk", [alone, free, series("idle"), series("polite")], rules.all)]
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
