import BenchCore
import CBenchShims
import Glibc
import NIOPosix

/// Detached tasks started by a thread that is no executor's, up to 256 unfinished at a time; the cost of one until all
/// have run, and the starting thread's own share of it. On a pool of NIO's: closures that are submitted to it.
struct OutsideCost: Workload {
    /// NIO's pool; `nil` for tasks.
    let pool: NIOThreadPool?

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let (tasks, window) = (20_000, 256)
        let submitting = Counter()
        let submitted = Counter()
        var figures = await CostMeter.measure(seconds: seconds, operations: tasks) {
            await withCheckedContinuation { continuation in
                let finished = Counter()
                stage.outside.perform {
                    let start = bench_thread_cpu()
                    for number in 1...tasks {
                        while number - finished.count > window { bench_spin_hint() }
                        let body: @Sendable () -> Void = {
                            if finished.add() == tasks { continuation.resume() }
                        }
                        if let pool { pool.submit { _ in body() } } else { stage.detached { body() } }
                    }
                    submitting.add(Int(bench_thread_cpu() - start))
                    submitted.add(tasks)
                }
            }
        }
        figures["submit_cpu_ns_per_op"] = Double(submitting.count) / Double(submitted.count)
        return figures
    }
}
