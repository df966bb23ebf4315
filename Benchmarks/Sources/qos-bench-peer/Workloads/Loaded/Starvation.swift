import BenchCore
import CBenchShims
import QoSCore
import Synchronization

/// B6: two high classes that would use all there is; how long new jobs of the low ones wait, what share they get, and
/// what that costs the high ones.
struct Starvation: Workload {
    /// Whether there is low work.
    let hasLow: Bool

    private static let low: [QoSClass] = [.default, .utility, .background]
    private static let probeInterval: UInt64 = 20_000_000

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let high = LowWork(
            [.userInteractive, .userInitiated], count: 8, piece: 500_000, on: stage, recordsTurns: true)
        let low = hasLow ? LowWork(Self.low, count: 2, piece: 500_000, on: stage) : nil
        var figures = RawFigures()
        let start = bench_now()
        if let low {
            let shares = Mutex<[QoSClass: Double]>([:])
            let waits = await probe(on: stage, seconds: seconds) {
                let capacity = Double(bench_now() - start) * Double(activeProcessorCount())
                shares.withLock { shares in
                    for qosClass in Self.low { shares[qosClass] = Double(low.used(by: qosClass)) / capacity }
                }
                high.stop()
            }
            for qosClass in Self.low {
                figures["share_\(qosClass)"] = shares.withLock { $0[qosClass] }
                figures["longest_wait_\(qosClass)_ms"] = (waits[qosClass]?.values.max() ?? 0) / 1e6
            }
        } else {
            await stage.outside.sleep(seconds: seconds)
            high.stop()
        }
        low?.stop()
        await high.waitForEnd()
        await low?.waitForEnd()
        figures.addLatencies("high_turn", high.turns(of: .userInteractive))
        return figures
    }

    /// Submits a job to each low class every 20 ms; calls `end` after the time and waits for all of them.
    ///
    /// The jobs that have not started by then are counted with what they have waited, at least.
    private func probe(
        on stage: Stage, seconds: Double, _ end: @escaping @Sendable () -> Void
    ) async -> [QoSClass: Latencies] {
        let rounds = UInt64(seconds * 1e9) / Self.probeInterval
        let waits = Dictionary(uniqueKeysWithValues: Self.low.map { ($0, Latencies(capacity: Int(rounds))) })
        let finished = Counter()
        await withCheckedContinuation { continuation in
            stage.outside.perform {
                let start = bench_now()
                for round in 1...rounds {
                    bench_sleep_until(start + round * Self.probeInterval)
                    for qosClass in Self.low {
                        let submitted = bench_now()
                        stage.detached(qosClass) {
                            waits[qosClass]?.add(Double(bench_now() - submitted))
                            if finished.add() == Int(rounds) * Self.low.count { continuation.resume() }
                        }
                    }
                }
                end()
            }
        }
        return waits
    }
}
