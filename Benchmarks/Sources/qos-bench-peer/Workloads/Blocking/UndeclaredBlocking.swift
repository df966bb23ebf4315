import BenchCore
import CBenchShims
import Glibc
import QoSCore

/// B7: jobs of a class block in the kernel for 1.5 s without having said so; how long the next job of the class waits, and
/// how many threads the process has at most.
struct UndeclaredBlocking: Workload {
    let jobs: Int

    private static let length: UInt64 = 1_500_000_000
    private static let qosClass = QoSClass.userInitiated

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let before = ThreadTable.read().count
        let blocked = Counter()
        let blockers = (0..<jobs).map { _ in
            stage.detached(Self.qosClass) {
                blocked.add()
                bench_sleep_until(bench_now() + Self.length)
            }
        }
        // Until the class's workers are all blocked, whatever their number: others of its jobs may still wait.
        await stage.outside.sleep(seconds: 0.02)
        let submitted = bench_now()
        let next = stage.detached(Self.qosClass) { bench_now() }
        var most = 0
        for _ in 0..<60 {
            await stage.outside.sleep(seconds: 0.02)
            most = max(most, ThreadTable.read().count)
        }
        let started = await next.value
        for blocker in blockers { await blocker.value }
        return RawFigures([
            "next_job_ms": Double(started - submitted) / 1e6,
            "extra_threads": Double(most - before),
        ])
    }
}
