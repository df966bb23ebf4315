import BenchCore
import CBenchShims
import QoSCore

/// B5, a plain task: a task of background stands in the queue behind unrelated background jobs when a task of
/// userInitiated begins to await it. From then until it starts.
struct WaitingPromotion: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let latencies = Latencies(capacity: 1000)
        let deadline = bench_now() + UInt64(seconds * 1e9)
        repeat {
            let backlog = await Backlog(on: stage)
            let queued = stage.detached(.background) { bench_now() }
            await stage.outside.sleep(seconds: 0.005)
            latencies.add(
                await stage.detached(.userInitiated) {
                    let start = bench_now()
                    return max(0, Double(await queued.value) - Double(start))
                }.value)
            await backlog.waitForEnd()
        } while bench_now() < deadline
        var figures = RawFigures()
        figures.addLatencies("start", latencies.values)
        return figures
    }
}

/// Background jobs that occupy every worker of the class and its queue for a while: 12 of 20 ms that never yield.
struct Backlog {
    private let jobs: [Task<Void, Never>]

    private let runs = Flag()

    /// Submits them.
    init(submittedOn stage: Stage) {
        jobs = (0..<12).map { [runs] _ in
            stage.detached(.background) {
                runs.set()
                bench_work(20_000_000)
            }
        }
    }

    /// Submits them and waits until the first one runs.
    init(on stage: Stage) async {
        self.init(submittedOn: stage)
        while !runs.isSet { await Task.yield() }
    }

    func waitForEnd() async {
        for job in jobs { await job.value }
    }
}
