import BenchCore
import CBenchShims
import QoSCore
import Synchronization

/// B14: jobs of userInteractive and tasks of background share a lock that nobody declared, while four tasks of default spin;
/// how long the jobs wait for the lock.
struct HiddenLock: Workload {
    /// The share of all processors that the jobs need.
    let load: Double

    private static let insideHigh: UInt64 = 2_000
    private static let insideLow: UInt64 = 20_000

    private final class Shared: Sendable {
        let lock = Mutex(())
    }

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let spinners = LowWork([.default], count: 4, piece: 500_000, on: stage)
        let shared = Shared()
        let isOver = Flag()
        let holders = (0..<2).map { _ in
            stage.detached(.background) {
                while !isOver.isSet {
                    for _ in 0..<10 {
                        shared.lock.withLock { _ in _ = bench_work(Self.insideLow) }
                        bench_work(Self.insideLow)
                    }
                    await Task.yield()
                }
            }
        }
        let loop = OpenLoop(load: load, seconds: seconds)
        let waits = Latencies(capacity: loop.count)
        let sojourns = Latencies(capacity: loop.count)
        _ = await loop.run(on: stage) {
        } end: {
            isOver.set()
            spinners.stop()
        } job: { intended in
            let start = bench_now()
            shared.lock.withLock { _ in
                waits.add(Double(bench_now() - start))
                bench_work(Self.insideHigh)
            }
            bench_work(OpenLoop.jobLength - Self.insideHigh)
            sojourns.add(Double(bench_now() - intended))
        }
        for holder in holders { await holder.value }
        await spinners.waitForEnd()

        var figures = RawFigures()
        figures.addLatencies("lock_wait", waits.values)
        figures.addLatencies("sojourn", sojourns.values)
        return figures
    }
}
