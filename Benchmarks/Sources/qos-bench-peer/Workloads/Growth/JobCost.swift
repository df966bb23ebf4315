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
    let submitter: Submitter

    /// Who submits the jobs.
    enum Submitter: Int {
        /// One task at `default`. Jobs of higher classes preempt it, one by one.
        case lowTask
        /// A thread that is no worker.
        case outsideThread
        /// A task of each class, which submits the jobs of that class.
        case tasksOfAllClasses
    }

    init(classes: Int, work: UInt64, submitter: Int) {
        self.classes = classes == 1 ? [.default] : Array(QoSClass.allCases)
        self.work = work
        self.submitter = Submitter(rawValue: submitter) ?? .lowTask
    }

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let jobs = 10_000
        let (before, total) = (stage.scheduler?.snapshot, Counter())
        var figures = await CostMeter.measure(seconds: seconds, operations: jobs) {
            await batch(of: jobs, on: stage)
            total.add(jobs)
        }
        if let before, let after = stage.scheduler?.snapshot {
            figures = Self.addCounts(from: before, to: after, jobs: total.count, to: figures)
        }
        return figures
    }

    private func batch(of jobs: Int, on stage: Stage) async {
        await withCheckedContinuation { continuation in
            let ended = Counter()
            let submit: @Sendable (QoSClass) -> Void = { qosClass in
                stage.detached(qosClass) {
                    if work > 0 { bench_work(work) }
                    if ended.add() == jobs { continuation.resume() }
                }
            }
            switch submitter {
            case .lowTask:
                for number in 0..<jobs { submit(classes[number % classes.count]) }
            case .outsideThread:
                stage.outside.perform { for number in 0..<jobs { submit(classes[number % classes.count]) } }
            case .tasksOfAllClasses:
                for qosClass in classes {
                    stage.detached(qosClass) { for _ in 0..<jobs / classes.count { submit(qosClass) } }
                }
            }
        }
    }

    /// Adds what the workers did for the jobs, per thousand of them.
    private static func addCounts(
        from before: SchedulerSnapshot, to after: SchedulerSnapshot, jobs: Int, to figures: RawFigures
    ) -> RawFigures {
        var figures = figures
        for (name, key) in [
            ("admission", \SchedulerSnapshot.admissionEntries), ("turns", \.loopTurns), ("looks", \.looks),
        ] {
            figures["\(name)_per_1000_ops"] = Double(after[keyPath: key] - before[keyPath: key]) * 1000 / Double(jobs)
        }
        for (name, key) in [
            ("parks", \SchedulerSnapshot.Pool.timesParked), ("steals", \.nodesStolen), ("moved", \.movedIn),
        ] {
            let difference = zip(after.pools, before.pools).reduce(0.0) { sum, pool in
                sum + Double(pool.0[keyPath: key]) - Double(pool.1[keyPath: key])
            }
            figures["\(name)_per_1000_ops"] = difference * 1000 / Double(jobs)
        }
        return figures
    }
}
