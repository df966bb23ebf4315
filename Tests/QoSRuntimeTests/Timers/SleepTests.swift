import QoSCore
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("Sleeping on the pools", .timeLimit(.minutes(5)))
struct SleepTests {
    /// A clock of a user, in the library's units.
    private struct Shifted: Clock {
        struct Instant: InstantProtocol {
            var inner: ContinuousClock.Instant
            func advanced(by duration: Duration) -> Self { Self(inner: inner.advanced(by: duration)) }
            func duration(to other: Self) -> Duration { inner.duration(to: other.inner) }
            static func < (left: Self, right: Self) -> Bool { left.inner < right.inner }
        }

        var now: Instant { Instant(inner: .now) }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            try await Task.sleep(until: deadline.inner, tolerance: tolerance, clock: .continuous)
        }
    }

    /// A clock with units of its own: ticks of two milliseconds.
    private struct Ticking: Clock {
        struct Ticks: DurationProtocol {
            var count: Int
            static var zero: Self { Self(count: 0) }
            static func + (left: Self, right: Self) -> Self { Self(count: left.count + right.count) }
            static func - (left: Self, right: Self) -> Self { Self(count: left.count - right.count) }
            static func / (left: Self, right: Int) -> Self { Self(count: left.count / right) }
            static func / (left: Self, right: Self) -> Double { Double(left.count) / Double(right.count) }
            static func * (left: Self, right: Int) -> Self { Self(count: left.count * right) }
            static func < (left: Self, right: Self) -> Bool { left.count < right.count }
        }

        struct Instant: InstantProtocol {
            var ticks: Int
            func advanced(by duration: Ticks) -> Self { Self(ticks: ticks + duration.count) }
            func duration(to other: Self) -> Ticks { Ticks(count: other.ticks - ticks) }
            static func < (left: Self, right: Self) -> Bool { left.ticks < right.ticks }
        }

        private static let start = ContinuousClock.now
        private static let tick = Swift.Duration.milliseconds(2)

        var now: Instant { Instant(ticks: Int((ContinuousClock.now - Self.start) / Self.tick)) }
        var minimumResolution: Ticks { Ticks(count: 1) }

        func sleep(until deadline: Instant, tolerance: Ticks?) async throws {
            try await Task.sleep(
                until: Self.start + Self.tick * deadline.ticks, tolerance: tolerance.map { Self.tick * $0.count },
                clock: .continuous)
        }
    }

    /// Sleeps on the calling task and says whether it was long enough by the clock, and in which pool it woke.
    private func sleep<C: Clock>(
        _ clock: C, for duration: C.Duration, tolerance: C.Duration?
    ) async throws -> (isLongEnough: Bool, qosClass: QoSClass?) {
        let deadline = clock.now.advanced(by: duration)
        try await clock.sleep(until: deadline, tolerance: tolerance)
        return (clock.now >= deadline, CurrentThread.qosClass)
    }

    private let tolerances: [Duration?] = [nil, .zero, .milliseconds(1), .milliseconds(50)]

    @Test(
        "S6 nobody wakes early, and everybody in their own pool, whatever class, clock and tolerance",
        arguments: QoSClass.allCases)
    func clocks(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            try await scheduler.withQoS(qosClass) {
                for tolerance in tolerances {
                    let outcomes = [
                        try await sleep(ContinuousClock(), for: .milliseconds(7), tolerance: tolerance),
                        try await sleep(SuspendingClock(), for: .milliseconds(7), tolerance: tolerance),
                        try await sleep(Shifted(), for: .milliseconds(7), tolerance: tolerance),
                    ]
                    for outcome in outcomes {
                        #expect(outcome.isLongEnough)
                        #expect(outcome.qosClass == qosClass)
                    }
                }
                for tolerance in [nil, Ticking.Ticks(count: 0), Ticking.Ticks(count: 20)] {
                    let outcome = try await sleep(Ticking(), for: Ticking.Ticks(count: 4), tolerance: tolerance)
                    #expect(outcome.isLongEnough)
                    #expect(outcome.qosClass == qosClass)
                }
            }
        }
    }

    @Test("Task.sleep in nanoseconds and by duration is long enough too", arguments: QoSClass.allCases)
    func taskSleep(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let slept = try await Task(executorPreference: scheduler.executor(for: qosClass)) {
                let clock = ContinuousClock()
                return [
                    try await clock.measure { try await Task.sleep(nanoseconds: 3_000_000) },
                    try await clock.measure { try await Task.sleep(for: .milliseconds(3)) },
                    try await clock.measure { try await Task.sleep(for: .milliseconds(3), tolerance: .seconds(0)) },
                ]
            }.value
            #expect(slept.allSatisfy { $0 >= .milliseconds(3) }, "\(slept)")
        }
    }

    @Test("a sleep until the past comes back, and one of no length too")
    func past() async throws {
        try await withScheduler { scheduler in
            try await scheduler.withQoS(.utility) {
                try await Task.sleep(until: .now - .seconds(10), clock: .continuous)
                try await Task.sleep(for: .zero)
                try await Task.sleep(nanoseconds: 0)
                #expect(CurrentThread.qosClass == .utility)
            }
        }
    }

    @Test("sleeps go through the scheduler's own timers", arguments: QoSClass.allCases)
    func ownTimers(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            func hasTimer() -> Bool {
                scheduler.core.timers.isArmed
                    || scheduler.core.group.pools[qosClass.rank].timers?.hasTimers == true
            }
            #expect(!hasTimer())
            let sleeper = Task(executorPreference: scheduler.executor(for: qosClass)) {
                try await Task.sleep(for: .seconds(3_600))
            }
            while !hasTimer() { await Task.yield() }
            sleeper.cancel()
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
    }

    @Test("thousands of sleepers of all classes wake, none early", .tags(.stress), arguments: [1, 2] as [UInt64])
    func manySleepers(_ seed: UInt64) async throws {
        try await withScheduler { scheduler in
            let early = await withTaskGroup(of: Bool.self) { group in
                var random = SeededGenerator(seed: seed)
                for index in 0..<5_000 {
                    let duration = Duration.microseconds(Int.random(in: 0...30_000, using: &random))
                    let tolerance: Duration? =
                        Bool.random(using: &random) ? nil : .microseconds(Int.random(in: 0...5_000, using: &random))
                    let isCancelled = index % 10 == 0
                    group.addTask(executorPreference: scheduler.executor(for: QoSClass.allCases[index % 5])) {
                        let start = ContinuousClock.now
                        if isCancelled {
                            let sleeper = Task { try await Task.sleep(for: duration, tolerance: tolerance) }
                            sleeper.cancel()
                            _ = await sleeper.result
                            return false
                        }
                        try? await Task.sleep(for: duration, tolerance: tolerance)
                        return ContinuousClock.now - start < duration
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(early == 0, "seed \(seed)")
        }
    }
}
