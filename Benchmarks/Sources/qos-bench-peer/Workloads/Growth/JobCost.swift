import BenchCore
import CBenchShims
import QoSCore
import QoSRuntime

/// B17: jobs of one class or of all five, many at a time, on a scheduler that counts on a given number of processors.
/// What one costs beside its own work, and what the workers do for it.
struct JobCost: Workload {
    /// The classes of the jobs, from `default` alone to all.
    let classes: [QoSClass]
    /// Processor time of one job, nanoseconds.
    let work: UInt64

    init(classes: Int, work: UInt64) {
        self.classes = classes == 1 ? [.default] : Array(QoSClass.allCases)
        self.work = work
    }

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        guard let scheduler = stage.scheduler else { throw NoSchedulerError() }
        let jobs = 10_000
        let (before, total) = (scheduler.snapshot, Counter())
        var figures = await CostMeter.measure(seconds: seconds, operations: jobs) {
            await withCheckedContinuation { continuation in
                let ended = Counter()
                for number in 0..<jobs {
                    stage.detached(classes[number % classes.count]) {
                        if work > 0 { bench_work(work) }
                        if ended.add() == jobs { continuation.resume() }
                    }
                }
            }
            total.add(jobs)
        }
        let after = scheduler.snapshot
        func perThousand(_ key: KeyPath<SchedulerSnapshot.Pool, UInt64>) -> Double {
            let difference = zip(after.pools, before.pools).reduce(0.0) { sum, pool in
                sum + Double(pool.0[keyPath: key]) - Double(pool.1[keyPath: key])
            }
            return difference * 1000 / Double(total.count)
        }
        for (name, key) in [
            ("admission", \SchedulerSnapshot.admissionEntries), ("turns", \.loopTurns), ("looks", \.looks),
        ] {
            let count = Double(after[keyPath: key] - before[keyPath: key])
            figures["\(name)_per_1000_ops"] = count * 1000 / Double(total.count)
        }
        figures["parks_per_1000_ops"] = perThousand(\.timesParked)
        figures["steals_per_1000_ops"] = perThousand(\.nodesStolen)
        figures["moved_per_1000_ops"] = perThousand(\.movedIn)
        return figures
    }
}
