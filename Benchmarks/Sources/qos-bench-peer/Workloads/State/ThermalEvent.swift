import BenchCore
import CBenchShims
import QoSCore
import QoSRuntime

/// B11: background jobs of half a millisecond on all its workers; a simulated thermal event stops the class, and its end
/// resumes it. From the event to the end of the last job, and from the lifted limit to the first job.
struct ThermalEvent: Workload {
    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        guard let scheduler = stage.scheduler else { return RawFigures([:]) }
        let monitor = try SystemMonitor(governing: scheduler)
        // By number, so that the first job after the pause is known.
        let (started, ended, isOver) = (Counter(), Counter(), Flag())
        let low = (0..<8).map { _ in
            stage.detached(.background) {
                while !isOver.isSet {
                    started.raise(to: Int(bench_now()))
                    _ = bench_work(500_000)
                    ended.raise(to: Int(bench_now()))
                    await Task.yield()
                }
            }
        }
        await stage.outside.sleep(seconds: 0.3)
        let event = bench_now()
        monitor.overrides.thermal = .serious
        await stage.outside.sleep(seconds: 0.3)
        let stop = Double(ended.count) - Double(event)
        let lastStart = started.count
        monitor.overrides.thermal = nil
        // The governor holds a looser answer back for two seconds: the limit shows when it is lifted.
        while scheduler.widthLimit(for: .background) == 0 {
            await stage.outside.sleep(seconds: 0.0001)
            if Double(bench_now() - event) / 1e9 > 30 { break }
        }
        let lifted = bench_now()
        while started.count == lastStart, bench_now() - lifted < 1_000_000_000 {
            await stage.outside.sleep(seconds: 0.0001)
        }
        let resume = Double(bench_now() - lifted)
        isOver.set()
        for task in low { await task.value }
        monitor.stop()
        return RawFigures(["stop_ms": stop / 1e6, "resume_ms": resume / 1e6])
    }
}
