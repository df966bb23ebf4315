import BenchCore
import QoSRuntime

/// Calls of an actor that do next to nothing, by one caller or by several at once; the cost of one call.
struct HopCost: Workload {
    let usesSerialExecutor: Bool
    let callers: Int

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let calls = 100_000 / callers
        let target = try makeTarget(stage)
        return await CostMeter.measure(seconds: seconds, operations: calls * callers) {
            if callers == 1 { return await target.call(times: calls) }
            await withDiscardingTaskGroup { group in
                for _ in 0..<callers {
                    group.addTask { await target.call(times: calls) }
                }
            }
        }
    }

    private func makeTarget(_ stage: Stage) throws -> any HopTarget {
        guard usesSerialExecutor else { return DefaultTarget() }
        guard let scheduler = stage.scheduler else { throw NoSchedulerError() }
        return SerialTarget(scheduler)
    }
}

/// An actor that is called.
protocol HopTarget: Sendable {
    /// Calls the actor so many times, from outside of it.
    nonisolated func call(times: Int) async
}

actor DefaultTarget: HopTarget {
    private var count = 0

    func bump() { count &+= 1 }

    nonisolated func call(times: Int) async {
        for _ in 0..<times { await bump() }
    }
}

actor SerialTarget: HopTarget {
    private let executor: QoSSerialExecutor
    private var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ scheduler: QoSScheduler) {
        executor = scheduler.makeSerialExecutor()
    }

    func bump() { count &+= 1 }

    nonisolated func call(times: Int) async {
        for _ in 0..<times { await bump() }
    }
}

/// The case needs our scheduler, and the executor has none.
struct NoSchedulerError: Error, CustomStringConvertible {
    var description: String { "this case needs our scheduler: use one of the executors 'ours…'" }
}
