import BenchCore
import CBenchShims
import QoSCore

/// B8: 100 tasks of userInteractive that sleep for 20 to 30 ms without tolerance, beside work of the three lower
/// classes that would use all there is; how late the sleeps end.
struct TimersUnderLoad: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let low = LowWork([.default, .utility, .background], count: 8, piece: 500_000, on: stage)
        await stage.outside.sleep(seconds: 0.1)
        let lateness = Latencies(capacity: Int(seconds * 100 * 60))
        let isOver = Flag()
        let sleepers = (0..<100).map { number in
            stage.detached(.userInteractive) {
                var random = RandomArrivals(perSecond: 100, seed: UInt64(number))
                let clock = SuspendingClock()
                while !isOver.isSet {
                    let deadline = clock.now + .nanoseconds(20_000_000 + Int64(random.next() % 10_000_000))
                    guard (try? await Task.sleep(until: deadline, tolerance: .zero, clock: clock)) != nil else {
                        return
                    }
                    lateness.add((clock.now - deadline).nanoseconds)
                }
            }
        }
        await stage.outside.sleep(seconds: seconds)
        isOver.set()
        low.stop()
        for sleeper in sleepers { await sleeper.value }
        await low.waitForEnd()
        var figures = RawFigures(["earliest_us": (lateness.values.min() ?? 0) / 1000])
        figures.addLatencies("late", lateness.values)
        return figures
    }
}
