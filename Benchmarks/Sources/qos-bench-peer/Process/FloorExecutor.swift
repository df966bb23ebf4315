// The only file of the benchmarks that uses SPI: installing an executor of one's own for the whole process has no
// public spelling in Swift 6.3.

import BenchCore
import Glibc
@_spi(ExperimentalCustomExecutors) import _Concurrency

/// The floor for costs per job: one thread, a ring of jobs, no lock, no atomic operation, no wake-up.
///
/// What Swift's own part of a spawn or a yield costs remains; no executor can be faster on one thread.
///
/// Threading: everything on the main thread; nothing may be submitted from another one.
// SAFETY: only the main thread touches the ring; cases that submit from elsewhere are not run on the floor.
final class FloorExecutor: TaskExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob?] = Array(repeating: nil, count: 1024)
    private var first = 0
    private var end = 0

    fileprivate static let shared = FloorExecutor()

    /// Makes it the process's executor. Before any task is started.
    static func installed() -> FloorExecutor {
        _createExecutors(factory: Factory.self)
        return shared
    }

    func enqueue(_ job: UnownedJob) {
        if end - first == jobs.count { grow() }
        jobs[end & (jobs.count - 1)] = job
        end += 1
    }

    /// Runs jobs until one of them ends the process.
    func runLoop() -> Never {
        let executor = unsafe asUnownedTaskExecutor()
        while first < end {
            let slot = first & (jobs.count - 1)
            guard let job = jobs[slot] else { break }
            first += 1
            unsafe job.runSynchronously(on: executor)
        }
        PeerMain.fail("the floor has nothing left to run, and nobody else could bring anything", status: 1)
    }

    private func grow() {
        let rest = (first..<end).map { jobs[$0 & (jobs.count - 1)] }
        jobs = rest + Array(repeating: nil, count: jobs.count)
        first = 0
        end = rest.count
    }

    private struct Factory: ExecutorFactory {
        static var mainExecutor: any MainExecutor { FloorMainExecutor() }
        static var defaultExecutor: any TaskExecutor { FloorExecutor.shared }
    }
}

/// The main actor's executor beside the floor: there because one has to be; no case uses the main actor.
private final class FloorMainExecutor: MainExecutor {
    func enqueue(_ job: UnownedJob) {
        PeerMain.fail("a case on the floor used the main actor", status: 1)
    }

    func run() {}

    func stop() {}
}
