import BenchCore
import CBenchShims
import QoSCore
import QoSRuntime
import Synchronization

/// Two threads that have a lock in turn, each for 50 µs, in which the other one falls asleep: from the release until
/// the other has it.
struct LockHandover: Workload {
    let lock: any MeasuredLock

    private final class Release: Sendable {
        let time = Atomic<UInt64>(0)
        let owner = Atomic<Int>(-1)
    }

    init?(_ kind: LockCost.Kind) {
        switch kind {
        case .ours: lock = OurLock()
        case .standard: lock = StandardLock()
        case .pthread: lock = PThreadLock()
        case .asyncMutex, .asyncSemaphore: return nil
        }
    }

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let (lock, release) = (self.lock, Release())
        let latencies = Latencies(capacity: 1_000_000)
        let end = bench_now() + UInt64(seconds * 1e9)
        let threads = (0..<2).map { number in
            QoSThread(name: "hand-\(number)", level: .default) {
                while bench_now() < end {
                    lock.with {
                        let now = bench_now()
                        let previous = release.owner.exchange(number, ordering: .relaxed)
                        if previous == 1 - number {
                            latencies.add(Double(now - release.time.load(ordering: .relaxed)))
                        }
                        Self.spin(50_000)
                        release.time.store(bench_now(), ordering: .relaxed)
                    }
                    Self.spin(50_000)
                }
            }
        }
        for thread in threads { try thread.start() }
        for thread in threads { try await thread.value }
        var figures = RawFigures()
        figures.addLatencies("handover", latencies.values)
        return figures
    }

    private static func spin(_ nanoseconds: UInt64) {
        let end = bench_now() + nanoseconds
        while bench_now() < end {}
    }
}
