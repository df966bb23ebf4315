import BenchCore
import CBenchShims

/// B8: many tasks that sleep for an hour and are cancelled; memory and processor time for each, and what the
/// process uses while they sleep.
struct SleepingTasks: Workload {
    let count: Int

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let resident = ThreadTable.residentBytes()
        let started = Counter()
        let start = Usage()
        let sleepers = (0..<count).map { _ in
            stage.detached {
                started.add()
                try? await Task.sleep(for: .seconds(3600))
            }
        }
        while started.count < count { await stage.outside.sleep(seconds: 0.01) }
        let asleep = Usage()
        await stage.outside.sleep(seconds: seconds)
        let slept = Usage()
        let grown = ThreadTable.residentBytes() - resident
        for sleeper in sleepers { sleeper.cancel() }
        for sleeper in sleepers { await sleeper.value }
        let end = Usage()
        let number = Double(count)
        return RawFigures([
            "bytes_per_task": Double(grown) / number,
            "fall_asleep_cpu_ns": Double(asleep.processorTime - start.processorTime) / number,
            "cancel_cpu_ns": Double(end.processorTime - slept.processorTime) / number,
            "asleep_cpu_share": Double(slept.processorTime - asleep.processorTime) / Double(slept.time - asleep.time),
        ])
    }
}
