import BenchCore
import CBenchShims
import QoSCore
import QoSRuntime

/// B5, a serial queue: 1000 items of background wait on it, behind unrelated background jobs, when one of userInitiated
/// is submitted. How long that submission takes, which promotes them all, and how long until the first of them runs.
struct QueuePromotion: Workload {
    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let (submissions, starts) = (Latencies(capacity: 1000), Latencies(capacity: 1000))
        let items = 1000
        guard let scheduler = stage.scheduler else { throw NoSchedulerError() }
        let deadline = bench_now() + UInt64(seconds * 1e9)
        var void = 0
        repeat {
            let backlog = await Backlog(on: stage)
            let queue = scheduler.makeQueue("queue")
            let ran = Counter()
            let firstRan = Counter()
            for _ in 0..<items {
                queue.async(level: .background) {
                    if ran.add() == 1 { firstRan.add(Int(bench_now())) }
                }
            }
            await stage.outside.sleep(seconds: 0.005)
            let isWaiting = firstRan.count == 0
            let (before, after) = await withCheckedContinuation { continuation in
                stage.outside.perform {
                    let ended = Counter()
                    let before = bench_now()
                    queue.async(level: .userInitiated) {
                        while ended.count == 0 { bench_spin_hint() }
                        continuation.resume(returning: (before, UInt64(ended.count)))
                    }
                    ended.add(Int(bench_now()))
                }
            }
            if isWaiting {
                submissions.add(Double(after - before))
                starts.add(Double(firstRan.count) - Double(before))
            } else {
                void += 1
            }
            await backlog.waitForEnd()
        } while bench_now() < deadline
        var figures = RawFigures(["void_samples": Double(void)])
        figures.addLatencies("submission", submissions.values)
        figures.addLatencies("start", starts.values)
        return figures
    }
}
