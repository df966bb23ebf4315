import BenchCore
import CBenchShims
import QoSCore

/// B1: jobs of 300 µs that arrive at random at the high classes, beside tasks of lower classes that would use all there
/// is. From the moment at which a job was meant to arrive until its end.
struct LoadedForeground: Workload {
    /// The classes of the jobs.
    let foreground: Foreground
    /// The share of all processors that the jobs need.
    let load: Double
    /// The pieces of the low work, nanoseconds of processor time; 0 for none.
    let piece: UInt64
    /// The classes of the low work.
    let lowClasses: [QoSClass]
    /// The processors of the control group's quota; 0 without one. The load is a share of these.
    var quota = 0.0

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let low =
            piece == 0
            ? nil : LowWork(lowClasses, count: 8, piece: piece, on: stage)
        let figures = await Self.measure(
            foreground, load: load, of: quota > 0 ? quota : Double(activeProcessorCount()), seconds: seconds,
            from: stage.outside, submit: stage.submitter(foreground), beside: low)
        await low?.waitForEnd()
        return figures
    }

    /// Submits the jobs and measures, whatever runs them.
    static func measure(
        _ foreground: Foreground, load: Double, of processors: Double = Double(activeProcessorCount()),
        seconds: Double, from outside: OutsideThread,
        submit: @escaping @Sendable (_ number: Int, _ job: @escaping @Sendable () -> Void) -> Void,
        beside low: (any CompetingWork)?
    ) async -> RawFigures {
        let loop = OpenLoop(load: load, of: processors, seconds: seconds)
        let sojourns = [
            QoSClass.userInteractive: Latencies(capacity: loop.count), .userInitiated: Latencies(capacity: loop.count),
        ]
        let residual = Counter()
        let outsideTime = Counter()
        let allTime = Counter()
        let lateness = await loop.run(from: outside, submit: submit) {
            residual.add(-(low?.used() ?? 0))
            outsideTime.add(-Int(bench_thread_cpu()))
            allTime.add(-Int(bench_process_cpu()))
        } end: {
            residual.add(low?.used() ?? 0)
            low?.stop()
            outsideTime.add(Int(bench_thread_cpu()))
            allTime.add(Int(bench_process_cpu()))
        } job: { number, intended in
            bench_work(OpenLoop.jobLength)
            sojourns[foreground.qosClass(of: number)]?.add(Double(bench_now() - intended))
        }

        var figures = RawFigures()
        figures.addLatencies("sojourn", sojourns.values.flatMap(\.values))
        for (qosClass, latencies) in sojourns { figures.addLatencies("\(qosClass)_sojourn", latencies.values) }
        figures.addLatencies("arrival", lateness.values)
        // What it takes to wait for each arrival and to submit its job: not there for low work.
        figures["outside_cores"] = Double(outsideTime.count) / Double(loop.length)
        // Of a run without low work: what is there for such work.
        figures["left_cores"] = processors - Double(allTime.count) / Double(loop.length)
        if low != nil {
            figures["low_cores"] = Double(residual.count) / Double(loop.length)
            let left = processors * (1 - load) * Double(loop.length)
            figures["residual_fraction"] = Double(residual.count) / left
        }
        return figures
    }
}
