import BenchCore
import CBenchShims
import QoSCore
import QoSRuntime
import Synchronization

/// B12: every class has run something, then nothing happens; how often the process wakes up and what it uses. Start-up
/// and end as well.
struct IdleProcess: Workload {
    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let started = bench_now()
        for qosClass in QoSClass.descending { await stage.detached(qosClass) {}.value }
        // What spins before it parks, and what winds down, is over by then.
        await stage.outside.sleep(seconds: 0.2)
        let idle = Mutex<(switches: Int, processorTime: UInt64, threads: Int)>((0, 0, 0))
        await withCheckedContinuation { continuation in
            stage.outside.perform {
                // The worker of the task that waits for this goes to sleep first.
                bench_sleep_until(bench_now() + 100_000_000)
                let before = ThreadTable.read()
                let (own, usage) = (bench_thread_cpu(), Usage())
                bench_sleep_until(usage.time + UInt64(seconds * 1e9))
                let (end, ownEnd) = (Usage(), bench_thread_cpu())
                let after = ThreadTable.read()
                let ownUsed = ownEnd - own
                let switches = after.map { id, count in
                    id == ThreadTable.own ? 0 : count - (before[id] ?? 0)
                }.reduce(0, +)
                let used = end.processorTime - usage.processorTime
                // Each clock is read at its own moment: between them lies less than a microsecond.
                idle.withLock { $0 = (switches, used > ownUsed + 1000 ? used - ownUsed : 0, after.count) }
                continuation.resume()
            }
        }
        let (switches, processorTime, threads) = idle.withLock { $0 }
        var figures = RawFigures([
            "wakeups": Double(switches),
            "cpu_us": Double(processorTime) / 1000,
            "threads": Double(threads),
            "startup_ms": Double(started - PeerMain.startTime) / 1e6,
        ])
        if case .byPreference(let scheduler) = stage.mode {
            let start = bench_now()
            try await scheduler.shutdown()
            figures["shutdown_ms"] = Double(bench_now() - start) / 1e6
        }
        figures["body_end_ns"] = Double(bench_now())
        return figures
    }
}
