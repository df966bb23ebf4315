import BenchCore
import CBenchShims
import QoSCore

/// B14: jobs of userInteractive and tasks of background share a resource, while four tasks of default spin. Its lock is
/// undeclared, or the runtime's own. Measures the jobs' wait for it.
struct HiddenLock: Workload {
    private let makeResource: @Sendable (Stage) throws -> any SharedResource
    /// The share of all processors that the jobs need.
    private let load: Double

    init(_ makeResource: @escaping @Sendable (Stage) throws -> any SharedResource, load: Double) {
        self.makeResource = makeResource
        self.load = load
    }

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let shared = try makeResource(stage)
        let spinners = LowWork([.default], count: 4, piece: 500_000, on: stage)
        let isOver = Flag()
        let holders = (0..<2).map { _ in
            stage.detached(.background) {
                while !isOver.isSet {
                    for _ in 0..<10 {
                        shared.useForLonger()
                        bench_work(20_000)
                    }
                    await Task.yield()
                }
            }
        }
        let loop = OpenLoop(load: load, seconds: seconds)
        let waits = Latencies(capacity: loop.count)
        let sojourns = Latencies(capacity: loop.count)
        _ = await loop.run(from: stage.outside, submit: stage.submitter(.userInteractive)) {
        } end: {
            isOver.set()
            spinners.stop()
        } job: { _, intended in
            waits.add(Double(shared.useShortly()))
            bench_work(OpenLoop.jobLength - 2_000)
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
