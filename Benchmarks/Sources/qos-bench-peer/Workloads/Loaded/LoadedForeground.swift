import BenchCore
import CBenchShims
import QoSCore

/// B1: jobs of 300 µs that arrive at random at userInteractive, beside tasks of the three lower classes that would use all
/// there is. From the moment at which a job was meant to arrive until its end.
struct LoadedForeground: Workload {
    /// The share of all processors that the jobs need.
    let load: Double
    /// The pieces of the low work, nanoseconds of processor time; 0 for none.
    let piece: UInt64

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let loop = OpenLoop(load: load, seconds: seconds)
        let sojourns = Latencies(capacity: loop.count)
        let low =
            piece == 0
            ? nil : LowWork([.default, .utility, .background], count: 8, piece: piece, on: stage)
        let residual = Counter()
        let outside = Counter()
        let lateness = await loop.run(on: stage) {
            residual.add(-(low?.used() ?? 0))
            outside.add(-Int(bench_thread_cpu()))
        } end: {
            residual.add(low?.used() ?? 0)
            low?.stop()
            outside.add(Int(bench_thread_cpu()))
        } job: { intended in
            bench_work(OpenLoop.jobLength)
            sojourns.add(Double(bench_now() - intended))
        }
        await low?.waitForEnd()

        var figures = RawFigures()
        figures.addLatencies("sojourn", sojourns.values)
        figures.addLatencies("arrival", lateness.values)
        // What it takes to wait for each arrival and to submit its job: not there for low work.
        figures["outside_cores"] = Double(outside.count) / Double(loop.length)
        if low != nil {
            let left = Double(activeProcessorCount()) * (1 - load) * Double(loop.length)
            figures["residual_fraction"] = Double(residual.count) / left
        }
        return figures
    }
}
