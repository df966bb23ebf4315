import BenchCore

/// 100 tasks that do nothing but yield; the cost of one yield.
struct YieldCost: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let (tasks, yields) = (100, 500)
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
