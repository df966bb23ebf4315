import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("Timers over a suspension of the machine")
struct ContinuousTimerTests {
    /// A machine whose two clocks a test moves.
    private final class Stage {
        let service = TimerService()
        let fired = Collected<Int>()
        private(set) var monotonic: UInt64 = 1_000
        private(set) var suspended: UInt64 = 0

        func add(_ number: Int, after delay: UInt64, tolerance: UInt64 = 0, isContinuous: Bool) {
            _ = service.add(
                TimerWindow(deadline: monotonic + delay, tolerance: tolerance, isPrompt: false),
                .body { [fired] in fired.append(number) }, suspended: isContinuous ? suspended : nil)
        }

        func pass(_ time: UInt64) { monotonic += time }

        func suspend(for time: UInt64) { suspended += time }

        /// Lets the loop look, and returns how long it sleeps then.
        func look() -> UInt64? {
            let next = service.advance(now: { monotonic }, suspended: suspended) { payload in
                if case .body(let body) = payload { body() }
            }
            return next.map { $0 - min($0, monotonic) }
        }
    }

    @Test("S6 a timer of the continuous clock counts a suspension, one of the suspending clock does not")
    func suspension() {
        let stage = Stage()
        stage.add(1, after: 100, isContinuous: true)
        stage.add(2, after: 100, isContinuous: false)
        #expect(stage.look() == 100)
        stage.pass(40)
        stage.suspend(for: 50)
        #expect(stage.look() == 10)
        #expect(stage.fired.all.isEmpty)
        stage.pass(10)
        #expect(stage.look() == 50)
        #expect(stage.fired.all == [1])
        stage.pass(50)
        #expect(stage.look() == nil)
        #expect(stage.fired.all == [1, 2])
    }

    @Test(
        "S6 a timer whose window ended during the suspension fires when the machine is back; a later one is not early")
    func passed() {
        let stage = Stage()
        stage.add(1, after: 100, tolerance: 20, isContinuous: true)
        stage.add(2, after: 10_000, isContinuous: true)
        #expect(stage.look() == 120)
        stage.suspend(for: 5_000)
        stage.add(3, after: 100, isContinuous: true)
        #expect(stage.look() == 100)
        #expect(stage.fired.all == [1])
        stage.pass(99)
        #expect(stage.look() == 1)
        stage.pass(1)
        #expect(stage.look() == 4_900)
        #expect(stage.fired.all == [1, 3])
        stage.pass(4_900)
        _ = stage.look()
        #expect(stage.fired.all == [1, 3, 2])
    }

    @Test("S6 both kinds fire in one wake-up, in the order of their deadlines")
    func together() {
        let stage = Stage()
        stage.suspend(for: 777)
        stage.add(1, after: 30, tolerance: 100, isContinuous: false)
        stage.add(2, after: 10, tolerance: 100, isContinuous: true)
        stage.add(3, after: 20, tolerance: 1, isContinuous: false)
        #expect(stage.look() == 21)
        stage.pass(31)
        #expect(stage.look() == nil)
        #expect(stage.fired.all == [2, 3, 1])
    }

    @Test("S6 at a shutdown the deadlines of both kinds are those of the monotonic clock")
    func handedOver() {
        let stage = Stage()
        stage.suspend(for: 500)
        stage.add(1, after: 100, isContinuous: true)
        stage.add(2, after: 50, isContinuous: false)
        _ = stage.look()
        stage.suspend(for: 30)
        var deadlines: [UInt64] = []
        stage.service.removeAll(suspended: stage.suspended) { deadline, _ in deadlines.append(deadline) }
        #expect(deadlines == [1_050, 1_070])
    }

    @Test(
        "S6 random worlds: no timer fires before its clock reads its deadline, none is left behind", arguments: 0..<50)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = Stage()
        var deadlines: [Int: (deadline: UInt64, isContinuous: Bool)] = [:]
        var seen = 0
        for number in 0..<200 {
            let delay = UInt64.random(in: 0...500, using: &random)
            let isContinuous = Bool.random(using: &random)
            stage.add(number, after: delay, tolerance: .random(in: 0...100, using: &random), isContinuous: isContinuous)
            deadlines[number] = (stage.monotonic + delay + (isContinuous ? stage.suspended : 0), isContinuous)
            stage.pass(.random(in: 0...20, using: &random))
            if Int.random(in: 0..<10, using: &random) == 0 {
                stage.suspend(for: .random(in: 0...1_000, using: &random))
            }
            _ = stage.look()
            for fired in stage.fired.all[seen...] {
                let timer = deadlines[fired]
                #expect(
                    stage.monotonic + (timer?.isContinuous == true ? stage.suspended : 0) >= timer?.deadline ?? .max,
                    "seed \(seed)")
            }
            seen = stage.fired.all.count
        }
        stage.pass(1_000)
        _ = stage.look()
        #expect(stage.fired.all.count == 200)
    }

    @Test("S6 the distance of the clocks is never measured too small, and does not change while the machine runs")
    func distance() {
        let first = SuspendedTime.nanoseconds()
        for _ in 0..<1_000 {
            let next = SuspendedTime.nanoseconds()
            #expect(max(first, next) - min(first, next) < 1_000_000_000)
        }
    }

    @Test(
        "S6 sleeps of both clocks end, short ones and those that the loop keeps, and none is early",
        .timeLimit(.minutes(5)))
    func sleeps() async throws {
        try await withScheduler { scheduler in
            for qosClass in [QoSClass.userInitiated, .utility] {
                for delay in [Duration.milliseconds(3), .milliseconds(1_050)] {
                    try await scheduler.run(at: qosClass) {
                        let start = ContinuousClock.now
                        try await Task.sleep(for: delay, tolerance: .zero, clock: .continuous)
                        #expect(ContinuousClock.now - start >= delay)
                    }
                }
                try await scheduler.run(at: qosClass) {
                    let start = SuspendingClock.now
                    try await Task.sleep(for: .milliseconds(3), tolerance: .zero, clock: .suspending)
                    #expect(SuspendingClock.now - start >= .milliseconds(3))
                }
            }
        }
    }
}
