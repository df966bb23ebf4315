import QoSCore
import QoSKernel
import QoSTesting
import Testing

@Suite("A virtual clock", .timeLimit(.minutes(5)))
struct VirtualClockTests {
    private let clock = VirtualClock()

    /// Starts a sleeper that notes its number and the time, and waits until it sleeps.
    private func sleeper(
        _ number: Int, for duration: Duration, tolerance: Duration? = nil, noting notes: Notes
    ) async -> Task<Void, Never> {
        let before = clock.sleepers
        let task = Task { [clock] in
            do {
                try await clock.sleep(until: clock.now.advanced(by: duration), tolerance: tolerance)
                notes.add(number)
            } catch {
                notes.add(-number)
            }
        }
        await clock.waitForSleepers(before + 1)
        return task
    }

    @Test("stands still, and is moved by exactly what is said")
    func advance() {
        #expect(clock.now == VirtualClock.Instant(nanoseconds: 0))
        clock.advance(by: .milliseconds(3))
        clock.advance(by: .zero)
        clock.advance(by: .milliseconds(-1))
        clock.advance(to: VirtualClock.Instant(nanoseconds: 1))
        #expect(clock.now.nanoseconds == 3_000_000)
        #expect(clock.now.offset == .milliseconds(3))
        clock.advance(to: VirtualClock.Instant(nanoseconds: .max))
        #expect(clock.now.advanced(by: .seconds(1)).nanoseconds == .max)
    }

    @Test("instants are ordered, and their distances add up")
    func instants() {
        let (first, second) = (VirtualClock.Instant(nanoseconds: 5), VirtualClock.Instant(nanoseconds: 12))
        #expect(first < second)
        #expect(first.duration(to: second) == .nanoseconds(7))
        #expect(second.duration(to: first) == .nanoseconds(-7))
        #expect(first.advanced(by: .nanoseconds(7)) == second)
        #expect(second.advanced(by: .nanoseconds(-7)) == first)
        #expect(first.advanced(by: .seconds(-1)).nanoseconds == 0)
    }

    @Test("wakes sleepers at their time, not before")
    func wakes() async {
        let notes = Notes()
        let task = await sleeper(1, for: .seconds(60), noting: notes)
        #expect(clock.sleepers == 1)
        #expect(clock.nextWake?.offset == .seconds(60))
        clock.advance(by: .seconds(59))
        #expect(clock.sleepers == 1)
        clock.advance(by: .seconds(1))
        #expect(clock.sleepers == 0)
        await task.value
        #expect(notes.all == [1])
    }

    @Test("S6 uses the tolerance to wake sleepers together, never before a deadline")
    func tolerance() async {
        let notes = Notes()
        let first = await sleeper(1, for: .seconds(1), tolerance: .seconds(10), noting: notes)
        let second = await sleeper(2, for: .seconds(8), noting: notes)
        let third = await sleeper(3, for: .seconds(9), tolerance: .seconds(10), noting: notes)
        #expect(clock.nextWake?.offset == .seconds(8))
        clock.advance(to: VirtualClock.Instant(nanoseconds: 8_500_000_000))
        await first.value
        await second.value
        #expect(Set(notes.all) == [1, 2])
        #expect(clock.sleepers == 1)
        // The end of an advance is a look at the timers, so the open window is used.
        clock.advance(by: .seconds(1))
        await third.value
        #expect(notes.all.last == 3)
    }

    @Test("a deadline that is past wakes at once")
    func past() async throws {
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: VirtualClock.Instant(nanoseconds: 0))
        try await clock.sleep(for: .zero)
        #expect(clock.sleepers == 0)
    }

    @Test("a sleep that is cancelled ends at once, and leaves nothing behind")
    func cancelled() async {
        let notes = Notes()
        let task = await sleeper(1, for: .seconds(60), noting: notes)
        task.cancel()
        await task.value
        #expect(notes.all == [-1])
        #expect(clock.sleepers == 0)
        #expect(clock.nextWake == nil)
    }

    @Test("a sleep of a task that was cancelled before does not begin")
    func cancelledBefore() async {
        let task = Task { [clock] in
            while !Task.isCancelled { await Task.yield() }
            do {
                try await clock.sleep(for: .seconds(1))
                return false
            } catch {
                return error is CancellationError
            }
        }
        task.cancel()
        #expect(await task.value)
        #expect(clock.sleepers == 0)
    }

    @Test("sleepers that are cancelled and woken at the same time end exactly once", arguments: 0..<20)
    func race(_ round: Int) async {
        let notes = Notes()
        var tasks: [Task<Void, Never>] = []
        for number in 1...20 { tasks.append(await sleeper(number, for: .seconds(1 + number % 3), noting: notes)) }
        let all = tasks
        async let cancelling: Void = { for task in all { task.cancel() } }()
        clock.advance(by: .seconds(3))
        await cancelling
        for task in all { await task.value }
        #expect(notes.all.map(abs).sorted() == Array(1...20))
        #expect(clock.sleepers == 0)
    }
}

/// Numbers in the order in which they were noted.
final class Notes: Sendable {
    private let numbers = Lock<[Int]>([])

    var all: [Int] { numbers.withLock { $0 } }

    func add(_ number: Int) { numbers.withLock { $0.append(number) } }
}
