import QoSTesting
import Synchronization
import Testing

@Suite("Clocks for code on its own executors", .timeLimit(.minutes(5)))
struct SettlingTests {
    @Test("advance and settle: sleeps that a woken task begins end in the same call, in their order")
    func advance() async throws {
        let (clock, notes) = (VirtualClock(), Notes())
        let task = Task {
            for number in 1...5 {
                try await clock.sleep(for: .seconds(1))
                notes.add(number)
            }
        }
        await clock.waitForSleepers(1)
        await clock.advanceAndSettle(by: .seconds(3))
        #expect(clock.now.offset == .seconds(3))
        // The task goes on at each wake-up before the clock moves again. Its way to the next sleep is a guess, which
        // the machine may miss: the sleeps are never more than the time that passed.
        #expect(!notes.all.isEmpty && notes.all.count <= 3)
        while notes.all.count < 5 {
            await clock.waitForSleepers(1)
            await clock.runUntilIdle()
        }
        try await task.value
        #expect(notes.all == [1, 2, 3, 4, 5])
        #expect(clock.now.offset >= .seconds(5))
    }

    @Test("run until idle stops at its limit, and says so")
    func limit() async {
        let clock = VirtualClock()
        let task = Task { while !Task.isCancelled { try? await clock.sleep(for: .seconds(60)) } }
        await clock.waitForSleepers(1)
        #expect(await !clock.runUntilIdle(within: .seconds(150)))
        #expect(clock.now.offset <= .seconds(150))
        task.cancel()
        await task.value
    }

    @Test("the immediate clock: sleeps end at once, and the time is the latest deadline")
    func immediate() async throws {
        let clock = ImmediateClock()
        try await clock.sleep(for: .seconds(3600))
        try await clock.sleep(until: .init(offset: .seconds(60)))
        #expect(clock.now.offset == .seconds(3600))
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.now.offset == .seconds(3600))
    }

    @Test("the unimplemented clock: each use is an issue of the test, with the clock's name")
    func unimplemented() async {
        await withKnownIssue {
            try? await UnimplementedClock("debounce").sleep(until: .init(offset: .seconds(1)))
        } matching: { issue in
            issue.comments.contains { $0.rawValue.contains("debounce") }
        }
        let uses = Mutex<[String]>([])
        let clock = UnimplementedClock { use in uses.withLock { $0.append(use) } }
        _ = clock.now
        try? await clock.sleep(until: .init(offset: .zero))
        #expect(uses.withLock { $0.count } == 2)
    }
}
