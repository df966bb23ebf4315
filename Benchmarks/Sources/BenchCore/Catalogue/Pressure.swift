extension Catalogue {
    /// The processors.
    static let b18 = Benchmark(id: "B18", title: "requests while other processes take the processors, and after") {
        scope in
        let seconds = scope.isQuick ? 27.0 : 60
        let governed = Series(.ours, CaseName("pressure", ["governed": 1]), seconds: seconds)
        let free = Series(.ours, CaseName("pressure", ["governed": 0]), seconds: seconds)
        let other = Series(.defaultExecutor, CaseName("pressure", ["governed": 0]), seconds: seconds)
        var rules = Rules()
        for (name, series) in [("governed", governed), ("free", free), ("free", other)] {
            for part in ["before", "during", "after"] {
                rules.value("\(name)_request_p99_\(part)_us", series, "request_p99_\(part)_us", nil)
                rules.value("\(name)_low_cores_\(part)", series, "low_cores_\(part)", nil)
            }
            for span in 0..<PressureTimes.spanCount {
                for key in ["request_p99_us", "low_cores"] {
                    let key = PressureTimes.key(key, span: span)
                    rules.value("\(name)_\(key)", series, key, nil)
                }
            }
        }
        rules.value("run_s", governed, "run_s", nil)
        rules.value("governed_limit_after_s", governed, "limit_after_s", nil)
        rules.value("governed_lifted_after_s", governed, "lifted_after_s", nil)
        rules.ratio("during_over_free", "request_p99_during_us", governed, over: free)
        rules.advantage("default_during_over_governed", "request_p99_during_us", of: governed, over: other)
        return [Experiment("pressure", [governed, free, other], rules.all)]
    }
}
