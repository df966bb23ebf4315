import BenchCore
import CBenchShims
import QoSCore

/// B4: a running job of background with 10 ms left is awaited by a task of userInitiated while four tasks of default
/// spin. From the moment at which it begins to wait until the job has ended.
struct RunningPromotion: Workload {
    private static let left: UInt64 = 10_000_000

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let latencies = Latencies(capacity: 1000)
        let deadline = bench_now() + UInt64(seconds * 1e9)
        repeat {
            // The job starts on an idle machine, the competitors come when it runs.
            let runs = Flag()
            let isAwaited = Flag()
            let job = stage.detached(.background) {
                runs.set()
                // Until somebody waits it takes what it gets; what is left from then on is known.
                while !isAwaited.isSet { bench_work(20_000) }
                bench_work(Self.left)
                return bench_now()
            }
            while !runs.isSet { await Task.yield() }
            let competitors = LowWork([.default], count: 4, piece: 500_000, on: stage)
            await stage.outside.sleep(seconds: 0.02)
            let waited = await stage.detached(.userInitiated) {
                let start = bench_now()
                isAwaited.set()
                return Double(await job.value) - Double(start)
            }.value
            latencies.add(waited)
            competitors.stop()
            await competitors.waitForEnd()
        } while bench_now() < deadline
        var figures = RawFigures()
        figures.addLatencies("end", latencies.values)
        return figures
    }
}
