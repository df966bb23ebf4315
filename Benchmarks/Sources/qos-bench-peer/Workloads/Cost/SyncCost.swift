import BenchCore
import QoSRuntime

/// Synchronous submissions to an idle serial queue of ours, from one task; the cost of one.
struct SyncCost: Workload {
    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let submissions = 10_000
        guard let scheduler = stage.scheduler else { throw NoSchedulerError() }
        let queue = scheduler.makeQueue("idle")
        return await CostMeter.measure(seconds: seconds, operations: submissions) {
            let sum = await stage.detached {
                var sum = 0
                // An idle queue that is not its own refuses nothing.
                for _ in 0..<submissions { try? queue.sync { sum &+= 1 } }
                return sum
            }.value
            precondition(sum == submissions)
        }
    }
}
