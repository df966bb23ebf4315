import BenchCore
import CBenchShims
import NIOPosix

/// B1 on NIO's thread pool: the jobs and the low work are closures in one queue; low work submits itself again where a
/// task would yield.
struct PoolForeground: Workload {
    /// The share of all processors that the jobs need.
    let load: Double
    /// The pieces of the low work, nanoseconds of processor time; 0 for none.
    let piece: UInt64

    /// A pool that runs, with a thread for each processor.
    static func makePool() -> NIOThreadPool {
        let pool = NIOThreadPool(numberOfThreads: activeProcessorCount())
        pool.start()
        return pool
    }

    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let pool = Self.makePool()
        let low = piece == 0 ? nil : PoolLowWork(count: 24, piece: piece, on: pool)
        return await LoadedForeground.measure(
            .userInteractive, load: load, seconds: seconds, from: stage.outside,
            submit: { _, job in pool.submit { _ in job() } },
            beside: low)
    }
}

/// Closures that use processor time in pieces and submit themselves again after each.
private final class PoolLowWork: CompetingWork {
    private let isOver = Flag()
    private let usedTime = Counter()
    private let piece: UInt64
    private let pool: NIOThreadPool

    init(count: Int, piece: UInt64, on pool: NIOThreadPool) {
        self.piece = piece
        self.pool = pool
        for _ in 0..<count { submit() }
    }

    func used() -> Int { usedTime.count }

    func stop() { isOver.set() }

    private func submit() {
        pool.submit { [self] _ in
            guard !isOver.isSet else { return }
            usedTime.add(Int(bench_work(piece)))
            submit()
        }
    }
}
