import QoSCore
import QoSEventLoop
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

/// All kinds of timers use one queue (rule S6).
@Suite("Wake-ups that timers share", .timeLimit(.minutes(5)))
struct SharedWakeUpTests {
    /// The sum over all classes and the runtime's own timers.
    private func counts(_ scheduler: QoSScheduler) -> (fired: UInt64, wakeUps: UInt64) {
        scheduler.core.group.timerTally.timers.reduce(into: (0, 0)) { sum, one in
            sum.0 += one.fired
            sum.1 += one.wakeUps
        }
    }

    /// The number of timers that the loop has.
    private func kept(_ scheduler: QoSScheduler) async throws -> Int {
        let core = scheduler.core
        return try await core.loop.perform { () throws(EventLoopError) in
            core.loopWoke()
            return core.timers.count
        }
    }

    @Test("S6 S7 Task.sleep, a work queue's delay and timer, and a background activity share one wake-up")
    func allKinds() async throws {
        // A machine under load may start the four so late that their windows no longer overlap: then once more.
        while try await !isShared() {}
    }

    /// - Returns: `false` if the timers were not all set before the first window could end.
    private func isShared() async throws -> Bool {
        try await withScheduler { scheduler in
            let activities = BackgroundActivityScheduler(on: scheduler)
            // Work that runs would wait for its own wake-ups.
            let ended = Collected<String>()
            let begin = ContinuousClock.now
            let before = counts(scheduler)
            let keptBefore = try await kept(scheduler)
            let tolerance = Duration.milliseconds(500)
            let sleep = scheduler.startDetachedTask(at: .background, name: "sleep") {
                try? await Task.sleep(for: .milliseconds(300), tolerance: tolerance)
                ended.append("sleep")
            }
            let queue = scheduler.makeQueue("tidy", level: .background)
            let (delayed, fired, activityRan) = (Gate(), Gate(), Gate())
            queue.async(after: .milliseconds(310), tolerance: tolerance) { delayed.open() }
            let timer = queue.makeTimer(after: .milliseconds(320), tolerance: tolerance) { _ in fired.open() }
            // An eighth of the tolerance is the share that an activity gives for its beginning.
            try activities.schedule(
                BackgroundActivity("scrub", .once(after: .milliseconds(330), tolerance: .seconds(4)))
            ) { _ in
                activityRan.open()
                return .finished
            }
            // The task may begin late. When the loop has all four timers, no window has ended.
            var isInTime = false
            while !isInTime, ContinuousClock.now - begin < .milliseconds(100) {
                isInTime = try await kept(scheduler) >= keptBefore + 4
            }
            await sleep.value
            for gate in [delayed, fired, activityRan] { await gate.passed() }
            let after = counts(scheduler)
            timer.cancel()
            guard isInTime, ended.all == ["sleep"] else { return false }
            #expect(after.fired - before.fired == 4)
            #expect(after.wakeUps - before.wakeUps == 1, "each kind has woken the loop by itself")
            let pool = try #require(scheduler.snapshot.pools.last)
            #expect(pool.qosClass == .background && pool.timersFired >= 4 && pool.timerWakeUps >= 1)
            return true
        }
    }

    @Test("S6 S7 in virtual time, timers whose windows overlap count one wake-up, for the class that is due first")
    func virtualTime() {
        let tally = TimerTally()
        let service = TimerService(tally: tally)
        for (deadline, qosClass) in [(UInt64(100), QoSClass.utility), (110, .background), (120, .background)] {
            _ = service.add(
                TimerWindow(deadline: deadline, tolerance: 50, isPrompt: false, for: qosClass), .body {})
        }
        _ = service.add(TimerWindow(deadline: 115, tolerance: 50, isPrompt: false), .body {}, suspended: 0)
        _ = service.add(TimerWindow(deadline: 400, tolerance: 0), .body {})
        // The first window ends at 150.
        #expect(service.advance(now: { 149 }) { _ in } == 150)
        #expect(tally.timers.allSatisfy { $0.fired == 0 })
        #expect(service.advance(now: { 150 }) { _ in } == 400)
        #expect(tally.timers(for: .utility) == .init(qosClass: .utility, fired: 1, wakeUps: 1))
        #expect(tally.timers(for: .background) == .init(qosClass: .background, fired: 2, wakeUps: 0))
        #expect(tally.timers(for: nil) == .init(qosClass: nil, fired: 1, wakeUps: 0))
        #expect(service.advance(now: { 400 }) { _ in } == nil)
        #expect(tally.timers(for: nil) == .init(qosClass: nil, fired: 2, wakeUps: 1))
    }
}
