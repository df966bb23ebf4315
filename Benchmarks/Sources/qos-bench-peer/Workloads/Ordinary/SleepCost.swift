import BenchCore

/// A hundred tasks that sleep for a millisecond again and again, without tolerance; the time of one sleep.
struct SleepCost: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let (tasks, sleeps) = (100, 50)
        var figures = await CostMeter.measure(seconds: seconds, operations: sleeps) {
            await withDiscardingTaskGroup { group in
                for _ in 0..<tasks {
                    group.addTask {
                        for _ in 0..<sleeps { try? await Task.sleep(for: .milliseconds(1), tolerance: .zero) }
                    }
                }
            }
        }
        // Each operation is a hundred sleeps at the same time.
        for key in ["cpu_ns_per_op", "switches_per_1000_ops", "allocations_per_op"] {
            figures[key] = figures[key].map { $0 / Double(tasks) }
        }
        return figures
    }
}

/// A thousand tasks that fall asleep for an hour, are cancelled and awaited; the cost of one.
struct CancelledSleepers: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let sleepers = 1000
        return await CostMeter.measure(seconds: seconds, operations: sleepers) {
            let begun = Counter()
            let tasks = (0..<sleepers).map { _ in
                stage.detached {
                    begun.add()
                    try? await Task.sleep(for: .seconds(3600))
                }
            }
            while begun.count < sleepers { await Task.yield() }
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
        }
    }
}
