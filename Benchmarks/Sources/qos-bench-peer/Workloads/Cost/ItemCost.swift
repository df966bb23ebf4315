import BenchCore
import QoSCore
import QoSRuntime

/// Pieces of work that do nothing, a thousand submitted from within the pool before the last of them has run: as
/// detached tasks, or as items of a work queue of ours. The cost of one until all have run.
struct ItemCost: Workload {
    /// The kind of the submitted items.
    enum Kind {
        case tasks
        case items(WorkQueue.Kind)
    }

    let kind: Kind

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let pieces = 1000
        let rounds = 10
        guard let scheduler = stage.scheduler else { throw NoSchedulerError() }
        let queue = scheduler.makeQueue("items", queueKind, level: .default)
        return await CostMeter.measure(seconds: seconds, operations: pieces * rounds) {
            await stage.detached {
                for _ in 0..<rounds {
                    await withCheckedContinuation { continuation in
                        let ran = Counter()
                        for _ in 0..<pieces {
                            submit(stage, queue) { if ran.add() == pieces { continuation.resume() } }
                        }
                    }
                }
            }.value
        }
    }

    private var queueKind: WorkQueue.Kind {
        if case .items(let queueKind) = kind { queueKind } else { .serial }
    }

    @inline(__always)
    private func submit(_ stage: Stage, _ queue: WorkQueue, _ body: @escaping @Sendable () -> Void) {
        switch kind {
        case .tasks: stage.detached { body() }
        case .items: queue.async(body)
        }
    }
}
