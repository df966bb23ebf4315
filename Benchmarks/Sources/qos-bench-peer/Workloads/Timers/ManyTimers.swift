import BenchCore
import CBenchShims
import QoSCore
import Synchronization

/// B8: 10⁴ tasks of a class that sleep for 0.5 to 1.5 s again and again, without a tolerance. Measures the wake-ups of
/// the process, and the lateness of the sleeps.
struct ManyTimers: Workload {
    let qosClass: QoSClass

    private static let count = 10_000

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let lateness = Latencies(capacity: Self.count * Int(seconds + 3))
        let isOver = Flag()
        let sleepers = (0..<Self.count).map { number in
            stage.detached(qosClass) {
                var random = RandomArrivals(perSecond: 2, seed: UInt64(number))
                let clock = SuspendingClock()
                while !isOver.isSet {
                    // Half a second and, at random, up to one more.
                    let length = Duration.nanoseconds(500_000_000 + Int64(random.next() % 1_000_000_000))
                    let deadline = clock.now + length
                    guard (try? await Task.sleep(until: deadline, clock: clock)) != nil else { return }
                    lateness.add((clock.now - deadline).nanoseconds)
                }
            }
        }
        // The first sleeps are under way, the tasks' first-touch costs are over.
        await stage.outside.sleep(seconds: 0.4)
        let start = Usage()
        await stage.outside.sleep(seconds: seconds)
        let end = Usage()
        isOver.set()
        for sleeper in sleepers { sleeper.cancel() }
        for sleeper in sleepers { await sleeper.value }

        let time = Double(end.time - start.time) / 1e9
        var figures = RawFigures([
            "switches_per_second": Double(end.switches - start.switches) / time,
            "cpu_share": Double(end.processorTime - start.processorTime) / 1e9 / time,
            "earliest_us": (lateness.values.min() ?? 0) / 1000,
        ])
        figures.addLatencies("late", lateness.values)
        return figures
    }
}
