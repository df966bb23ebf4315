import BenchCore
import CBenchShims
import Synchronization

/// From the resumption of a suspended task to its first instruction on another thread, while the resuming task keeps
/// its own thread busy. The gap says how long the other thread has had nothing to do.
struct WakeLatency: Workload {
    let gap: UInt64

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let bed = Bed()
        let sleeper = stage.detached { await bed.sleepAgainAndAgain() }
        var latencies: [Double] = []
        let deadline = bench_now() + UInt64(seconds * 1e9)
        while bench_now() < deadline {
            latencies.append(Double(bed.wake(gap: gap)))
        }
        bed.end()
        await sleeper.value
        var figures = RawFigures()
        figures.addLatencies("wake", latencies)
        return figures
    }

    /// The place where one task sleeps.
    private final class Bed: Sendable {
        private let sleeping = Atomic<UInt>(0)
        private let wokeAt = Atomic<UInt64>(0)
        private let isOver = Flag()

        func sleepAgainAndAgain() async {
            while !isOver.isSet {
                await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                    sleeping.store(unsafe unsafeBitCast(continuation, to: UInt.self), ordering: .releasing)
                }
                wokeAt.store(bench_now(), ordering: .releasing)
            }
        }

        func wake(gap: UInt64) -> UInt64 {
            let sleeper = waitForSleeper()
            let end = bench_now() + gap
            while bench_now() < end { bench_spin_hint() }
            let start = bench_now()
            // SAFETY: an unsafe continuation is one pointer; each is taken out once.
            unsafe unsafeBitCast(sleeper, to: UnsafeContinuation<Void, Never>.self).resume()
            while true {
                let time = wokeAt.load(ordering: .acquiring)
                if time >= start { return time - start }
                bench_spin_hint()
            }
        }

        func end() {
            let sleeper = waitForSleeper()
            isOver.set()
            unsafe unsafeBitCast(sleeper, to: UnsafeContinuation<Void, Never>.self).resume()
        }

        private func waitForSleeper() -> UInt {
            while true {
                let sleeper = sleeping.exchange(0, ordering: .acquiringAndReleasing)
                if sleeper != 0 { return sleeper }
                bench_spin_hint()
            }
        }
    }
}
