import BenchCore

/// Tasks that do nothing but yield; the cost of one yield.
struct YieldCost: Workload {
    let tasks: Int

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let yields = 50_000 / tasks
        return await CostMeter.measure(seconds: seconds, operations: tasks * yields) {
            await withDiscardingTaskGroup { group in
                for _ in 0..<tasks {
                    group.addTask {
                        for _ in 0..<yields { await Task.yield() }
                    }
                }
            }
        }
    }
}
