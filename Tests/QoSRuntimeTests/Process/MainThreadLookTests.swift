import QoSCore
import QoSEventLoop
import QoSKernel
import QoSRuntimeTestSupport
import Synchronization
import Testing

@testable import QoSRuntime

@Suite("The main thread's look for its next job")
struct MainThreadLookTests {
    private let microsecond: UInt64 = 1_000
    private let start: UInt64 = 1_000_000_000

    @Test("jobs that come now and then are not looked for")
    func rare() {
        var look = MainThreadLook()
        for turn in 0..<10 {
            let now = start + UInt64(turn) * 1_000 * microsecond
            look.jobsBegan(at: now)
            #expect(look.jobsEnded(at: now + microsecond) == nil)
        }
    }

    @Test("a job that follows closely is looked for, for as long as a wake-up takes")
    func close() {
        var look = MainThreadLook()
        look.jobsBegan(at: start)
        #expect(look.jobsEnded(at: start) == nil)
        look.jobsBegan(at: start + 100 * microsecond)
        let end = start + 101 * microsecond
        #expect(look.jobsEnded(at: end) == end + MainThreadLook.longest)
        look.succeeded()
        #expect(look.jobsEnded(at: end) == end + MainThreadLook.longest)
    }

    @Test("looks in vain become rare, and a job that is found makes them frequent again")
    func vain() {
        var look = MainThreadLook()
        var (now, looks) = (start, 0)
        func turn() -> Bool {
            now += 100 * microsecond
            look.jobsBegan(at: now)
            return look.jobsEnded(at: now) != nil
        }
        for _ in 0..<1_000 where turn() {
            looks += 1
            look.failed()
        }
        #expect((10...25).contains(looks), "\(looks)")
        while !turn() {}
        look.succeeded()
        #expect(turn() && turn())
    }

    /// A lost job is the last one here: no later job wakes the loop.
    @Test("no job of a lone thread is lost that comes while the main thread falls asleep")
    func lastJob() async throws {
        try await withScheduler { scheduler in
            let executor = try MainLoopExecutor(beside: scheduler.core.group)
            let loop = try RunningThread(name: "main-stand-in") { try? executor.runLoop() }
            let lost = Lock<Int?>(nil)
            let submitter = try RunningThread(name: "submitter") {
                let number = Self.firstLost(of: 40_000, on: executor)
                lost.withLock { $0 = number }
            }
            try submitter.join()
            #expect(lost.withLock { $0 } == nil)
            executor.loop.stop()
            try loop.join()
        }
    }

    /// Submits one job after the other, each some nanoseconds after the last one has run. Now and then the pause is
    /// longer than a look of the main thread, so that looks become rare.
    ///
    /// - Returns: the number of the job that did not run within five seconds; `nil` if all ran.
    private static func firstLost(of jobs: Int, on executor: MainLoopExecutor) -> Int? {
        let last = LastJob()
        for number in 1...jobs {
            executor.enqueue(Jobs.make(.default) { last.number.store(number, ordering: .sequentiallyConsistent) })
            let deadline = MonotonicClock.nanoseconds() + 5_000_000_000
            while last.number.load(ordering: .sequentiallyConsistent) != number {
                if MonotonicClock.nanoseconds() > deadline { return number }
            }
            if number.isMultiple(of: 8) {
                let pause = MonotonicClock.nanoseconds() + 2 * MainThreadLook.longest
                while MonotonicClock.nanoseconds() < pause { spinHint() }
            } else {
                for _ in 0..<number % 64 { spinHint() }
            }
        }
        return nil
    }

    private final class LastJob: Sendable {
        let number = Atomic<Int>(0)
    }

    @Test("no job is lost that comes while the main thread runs, looks or falls asleep", .timeLimit(.minutes(2)))
    func everyJob() async throws {
        let (submitters, jobs) = (3, 4_000)
        try await withScheduler { scheduler in
            let executor = try MainLoopExecutor(beside: scheduler.core.group)
            let loop = try RunningThread(name: "main-stand-in") { try? executor.runLoop() }
            await withTaskGroup { group in
                for number in 0..<submitters {
                    group.addTask { await Self.submit(jobs, to: executor, seed: UInt64(number)) }
                }
            }
            executor.loop.stop()
            try loop.join()
        }
    }

    /// Submits one job after the other, each when the last one has run and a pause of 0 to 64 µs is over.
    private static func submit(_ jobs: Int, to executor: MainLoopExecutor, seed: UInt64) async {
        var random = seed
        for _ in 0..<jobs {
            await withCheckedContinuation { continuation in
                executor.enqueue(Jobs.make(.default) { continuation.resume() })
            }
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            for _ in 0..<(random >> 53) { spinHint() }
        }
    }

    private static func spinHint() { atomicMemoryFence(ordering: .sequentiallyConsistent) }
}
