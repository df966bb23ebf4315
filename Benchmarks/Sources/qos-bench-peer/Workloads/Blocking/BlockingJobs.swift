import BenchCore
import CBenchShims
import Glibc
import QoSCore
import QoSRuntime

/// B7: jobs of a class block in the kernel for 1.5 s, having said so or not; how long the next job of the class waits,
/// and how many threads the process has at most.
struct BlockingJobs: Workload {
    let jobs: Int
    let areDeclared: Bool

    private static let length: UInt64 = 1_500_000_000
    private static let qosClass = QoSClass.userInitiated

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let before = ThreadTable.read().count
        let lastBlock = Counter()
        let blockers = (0..<jobs).map { _ in
            stage.detached(Self.qosClass) { [areDeclared] in
                if areDeclared {
                    QoS.withBlocking { Self.block(lastBlock) }
                } else {
                    Self.block(lastBlock)
                }
            }
        }
        // Queued behind them: runs when a worker stands in for one that blocks.
        let queued = stage.detached(Self.qosClass) { (bench_now(), lastBlock.count) }
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
        let (queuedStart, blockedBefore) = await queued.value
        for blocker in blockers { await blocker.value }
        return RawFigures([
            "next_job_us": Double(started - submitted) / 1000,
            "queued_job_us": max(0, Double(queuedStart) - Double(blockedBefore)) / 1000,
            "extra_threads": Double(most - before),
        ])
    }

    /// Blocks, having noted when.
    private static func block(_ lastBlock: Counter) {
        let now = bench_now()
        lastBlock.raise(to: Int(now))
        bench_sleep_until(now + length)
    }
}
