import QoSCore
import QoSEventLoop
import QoSProcessTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Cancelled sleeps", .timeLimit(.minutes(5)))
struct CancelledSleepTests {
    /// The number of timers in the loop's sets.
    private func timers(of scheduler: QoSScheduler) async throws -> Int {
        let core = scheduler.core
        // A sleep that ends lets the loop take in all requests.
        try await Task(executorPreference: scheduler.executor(for: .utility)) {
            try await Task.sleep(for: .milliseconds(1))
        }.value
        return await withCheckedContinuation { continuation in
            do {
                try core.loop.submit { continuation.resume(returning: core.timers.count) }
            } catch {
                continuation.resume(returning: -1)
            }
        }
    }

    @Test("leave nothing with the timers until their deadlines", arguments: [QoSClass.utility, .userInitiated])
    func leaveNothing(_ qosClass: QoSClass) async throws {
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false)
        try await withScheduler(configuration) { scheduler in
            let (rounds, sleepers) = (40, 500)
            for _ in 0..<rounds {
                await withTaskGroup(of: Void.self) { group in
                    let executor = scheduler.executor(for: qosClass)
                    let allSleep = Gate()
                    for number in 0...sleepers {
                        group.addTask(executorPreference: executor) {
                            // One worker runs them in their order: when the last one begins, all others sleep.
                            if number == sleepers { return allSleep.open() }
                            try? await Task.sleep(for: .seconds(3_600))
                        }
                    }
                    await allSleep.passed()
                    group.cancelAll()
                }
            }
            let left = try await timers(of: scheduler)
            #expect(left >= 0 && left < 2 * SleepSweep.fewest + TimerService.keptRequests + sleepers, "\(left)")
        }
    }

    @Test("leave no memory behind, in tasks without an executor", .tags(.process))
    func memory() async throws {
        let ending = try await DriverProcess("cancelled-sleeps", "300000").ending()
        let bytes = Int(ending.findings["bytes"] ?? "")
        #expect(try #require(bytes) < 100, "\(ending)")
    }

    @Test("sleeps that go on are not shortened by the search for cancelled ones")
    func others() async throws {
        try await withScheduler { scheduler in
            let executor = scheduler.executor(for: .utility)
            let slept = await withTaskGroup(of: Bool?.self) { group in
                for _ in 0..<300 {
                    group.addTask(executorPreference: executor) {
                        let start = ContinuousClock.now
                        do {
                            try await Task.sleep(for: .milliseconds(300))
                            return ContinuousClock.now - start >= .milliseconds(300)
                        } catch {
                            return false
                        }
                    }
                }
                for _ in 0..<3_000 {
                    group.addTask(executorPreference: executor) {
                        let inner = Task { try? await Task.sleep(for: .seconds(3_600)) }
                        await Task.yield()
                        inner.cancel()
                        await inner.value
                        return nil
                    }
                }
                var slept: [Bool] = []
                for await outcome in group { if let outcome { slept.append(outcome) } }
                return slept
            }
            #expect(slept.count == 300 && slept.allSatisfy { $0 })
        }
    }

    @Test("a search is due whenever the timers have doubled")
    func sweep() {
        var sweep = SleepSweep()
        #expect(!sweep.isDue(at: SleepSweep.fewest - 1))
        #expect(sweep.isDue(at: SleepSweep.fewest))
        sweep.done(left: 1_000)
        #expect(!sweep.isDue(at: 1_999))
        #expect(sweep.isDue(at: 2_000))
        sweep.done(left: 0)
        #expect(sweep.isDue(at: SleepSweep.fewest))
    }

    @Test("S6 a search takes all cancelled timers out of the set, and leaves the others in their order")
    func cancelAll() {
        var set = TimerSet<Int>()
        for number in 0..<100 {
            set.insert(TimerWindow(deadline: UInt64(100 - number), tolerance: 1, isPrompt: number % 2 == 0), number)
        }
        #expect(set.cancelAll { $0 % 5 == 0 }.sorted() == Array(stride(from: 0, to: 100, by: 5)))
        #expect(set.count == 80)
        var left: [Int] = []
        while let number = set.popExpired(now: .max) { left.append(number) }
        #expect(left == (0..<100).reversed().filter { $0 % 5 != 0 })
    }
}
