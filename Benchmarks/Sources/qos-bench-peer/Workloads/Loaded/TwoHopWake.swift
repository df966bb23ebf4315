import BenchCore
import CBenchShims
import QoSCore

/// B2: a task of userInteractive that sleeps until each millisecond, beside tasks of background that spin. From the
/// moment at which the sleep was to end until the task runs.
struct TwoHopWake: Workload {
    let spinners: Int

    private static let interval: UInt64 = 1_000_000

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let low = LowWork([.background], count: spinners, piece: 500_000, on: stage)
        let wakes = Int(seconds * 1000)
        let latencies = Latencies(capacity: wakes)
        try await stage.detached(.userInteractive) { () -> Result<Void, any Error> in
            do {
                let clock = SuspendingClock()
                let start = clock.now
                for number in 1...wakes {
                    let deadline = start + .nanoseconds(Int64(Self.interval) * Int64(number))
                    try await Task.sleep(until: deadline, tolerance: .zero, clock: clock)
                    latencies.add((clock.now - deadline).nanoseconds)
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }.value.get()
        low.stop()
        await low.waitForEnd()
        var figures = RawFigures()
        figures.addLatencies("wake", latencies.values)
        return figures
    }
}
