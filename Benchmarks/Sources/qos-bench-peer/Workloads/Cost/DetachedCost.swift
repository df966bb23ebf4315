import BenchCore

/// A detached task that is awaited before the next one starts; the cost of one.
struct DetachedCost: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let tasks = 20_000
        return await CostMeter.measure(seconds: seconds, operations: tasks) {
            for number in 0..<tasks {
                _ = await stage.detached { number }.value
            }
        }
    }
}
