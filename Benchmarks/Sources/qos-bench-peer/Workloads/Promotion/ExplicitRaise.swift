import BenchCore
import CBenchShims
import QoSCore
import QoSRuntime
import Synchronization

/// B5, an explicit raise: many jobs of utility wait in the queue of a worker while all workers of the class are busy;
/// one after another of them is raised to userInteractive. What a raise costs, and how long until the job runs.
struct ExplicitRaise: Workload {
    /// The number of waiting tasks.
    let waiting: Int

    /// The number of tasks that are raised before the rest may run. The raises come at random times, about a
    /// millisecond apart, so they are not in step with looks at even times.
    private static let raises = 100

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let (costs, starts) = (Latencies(capacity: 100_000), Latencies(capacity: 100_000))
        guard let scheduler = stage.scheduler else { throw NoSchedulerError() }
        let deadline = bench_now() + UInt64(seconds * 1e9)
        repeat {
            let crowd = await Crowd(of: waiting, on: stage)
            let stride = waiting / Self.raises
            let raisedAt = await withCheckedContinuation { continuation in
                stage.outside.perform {
                    var times: [UInt64] = []
                    var moments = RandomArrivals(perSecond: 1000, seed: 1)
                    let first = bench_now()
                    for number in 0..<Self.raises {
                        bench_sleep_until(first + moments.next())
                        let start = bench_now()
                        scheduler.raise(crowd.tasks[number * stride], to: .userInteractive)
                        costs.add(Double(bench_now() - start))
                        times.append(start)
                    }
                    continuation.resume(returning: times)
                }
            }
            for (number, raised) in raisedAt.enumerated() {
                starts.add(max(0, Double(await crowd.tasks[number * stride].value) - Double(raised)))
            }
            await crowd.disperse(on: stage)
        } while bench_now() < deadline
        var figures = RawFigures()
        figures.addLatencies("raise", costs.values)
        figures.addLatencies("start", starts.values)
        return figures
    }
}

/// Jobs of utility that wait: the class's workers are kept busy until they are let go.
private struct Crowd {
    /// Each gives the time at which it ran.
    let tasks: [Task<UInt64, Never>]
    private let mayRun: Flag
    private let ran: Counter

    /// Submits them from a worker of the class, and waits until it has.
    init(of count: Int, on stage: Stage) async {
        let (mayRun, ran, isReady) = (Flag(), Counter(), Flag())
        let submitted = Submitted()
        let occupy: @Sendable () -> Void = { while !mayRun.isSet { bench_work(20_000) } }
        let busy = Counter()
        for _ in 1..<activeProcessorCount() {
            stage.detached(.utility) {
                busy.add()
                occupy()
            }
        }
        while busy.count < activeProcessorCount() - 1 { await stage.outside.sleep(seconds: 0.001) }
        stage.detached(.utility) {
            let tasks = (0..<count).map { _ in
                stage.detached(.utility) {
                    defer { ran.add() }
                    return bench_now()
                }
            }
            submitted.tasks.withLock { $0 = tasks }
            isReady.set()
            occupy()
        }
        while !isReady.isSet { await stage.outside.sleep(seconds: 0.001) }
        tasks = submitted.tasks.withLock { $0 }
        (self.mayRun, self.ran) = (mayRun, ran)
    }

    /// Lets them run, and waits until they have.
    func disperse(on stage: Stage) async {
        mayRun.set()
        while ran.count < tasks.count { await stage.outside.sleep(seconds: 0.001) }
    }

    private final class Submitted: Sendable {
        let tasks = Mutex<[Task<UInt64, Never>]>([])
    }
}
