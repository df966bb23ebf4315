import BenchCore
import Synchronization

/// Two tasks that resume one another in turns; the cost of one resumption.
struct PingPongCost: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let turns = 20_000
        return await CostMeter.measure(seconds: seconds, operations: 2 * turns) {
            let table = Table()
            await withDiscardingTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask {
                        for _ in 0..<turns { await table.swapTurns() }
                        table.leave()
                    }
                }
            }
        }
    }

    /// The meeting point of the two: a task leaves its continuation and resumes the one that is there.
    private final class Table: Sendable {
        private let waiting = Atomic<UInt>(0)

        func swapTurns() async {
            await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                resume(
                    unsafe waiting.exchange(
                        unsafeBitCast(continuation, to: UInt.self), ordering: .acquiringAndReleasing))
            }
        }

        /// The first to finish lets the other one go on alone.
        func leave() {
            resume(waiting.exchange(0, ordering: .acquiringAndReleasing))
        }

        private func resume(_ word: UInt) {
            guard word != 0 else { return }
            // SAFETY: an unsafe continuation is one pointer; each is taken out once.
            unsafe unsafeBitCast(word, to: UnsafeContinuation<Void, Never>.self).resume()
        }
    }
}
