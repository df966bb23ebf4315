import QoSCore
import QoSRuntimeTestSupport
import Synchronization
import Testing

@testable import QoSRuntime

@Suite("The timer service")
struct TimerServiceTests {
    /// A timer service whose clock stands still, and what fired.
    private final class Stage: Sendable {
        let service = TimerService()
        let fired = Collected<Int>()

        /// Adds a timer that reports a number.
        func add(_ number: Int, deadline: UInt64, tolerance: UInt64 = 0) -> Bool {
            service.add(deadline: deadline, tolerance: tolerance, .body { [fired] in fired.append(number) })
        }

        /// Lets the loop look at a moment.
        func advance(to now: UInt64) -> UInt64? {
            service.advance(now: { now }, fire: Self.run)
        }

        static func run(_ payload: TimerService.Payload) {
            if case .body(let body) = payload { body() }
        }
    }

    @Test("fires in the order of the deadlines, none early")
    func order() {
        let stage = Stage()
        _ = stage.add(3, deadline: 30)
        _ = stage.add(1, deadline: 10)
        _ = stage.add(2, deadline: 20)
        #expect(stage.advance(to: 9) == 10)
        #expect(stage.fired.all.isEmpty)
        #expect(stage.advance(to: 20) == 30)
        #expect(stage.fired.all == [1, 2])
        #expect(stage.advance(to: 30) == nil)
        #expect(stage.fired.all == [1, 2, 3])
    }

    @Test("S6 sleeps until the window that ends first ends, so that windows that overlap cost one wake-up")
    func coalescing() {
        let stage = Stage()
        _ = stage.add(1, deadline: 10, tolerance: 15)
        _ = stage.add(2, deadline: 20, tolerance: 100)
        _ = stage.add(3, deadline: 26, tolerance: 100)
        #expect(stage.advance(to: 0) == 25)
        #expect(stage.advance(to: 25) == 126)
        #expect(stage.fired.all == [1, 2])
    }

    @Test("S6 fires nothing before a window ends: where the loop has woken for something else, no worker is woken")
    func wokenForSomethingElse() {
        let stage = Stage()
        _ = stage.add(1, deadline: 10, tolerance: 15)
        _ = stage.add(2, deadline: 20, tolerance: 100)
        #expect(stage.advance(to: 24) == 25)
        #expect(stage.fired.all.isEmpty)
        // One whose window ends at once takes what is due with it.
        _ = stage.add(3, deadline: 22)
        #expect(stage.advance(to: 24) == nil)
        #expect(stage.fired.all == [1, 2, 3])
    }

    @Test("wakes the loop only for a timer whose window ends before the loop wakes anyway")
    func wakeUps() {
        let stage = Stage()
        #expect(stage.add(1, deadline: 100))
        #expect(stage.advance(to: 0) == 100)
        #expect(!stage.add(2, deadline: 100))
        #expect(!stage.add(3, deadline: 50, tolerance: 50))
        #expect(stage.add(4, deadline: 50, tolerance: 49))
        #expect(!stage.add(5, deadline: 10, tolerance: .max))
        #expect(stage.advance(to: 0) == 99)
    }

    @Test("a timer at the end of time wakes nobody and does no harm")
    func endOfTime() {
        let stage = Stage()
        #expect(!stage.add(1, deadline: .max, tolerance: .max))
        #expect(stage.advance(to: 0) == .max)
        #expect(stage.fired.all.isEmpty)
    }

    @Test("a timer that is set by one that fires is not forgotten")
    func setWhileFiring() {
        let stage = Stage()
        _ = stage.service.add(
            deadline: 10, tolerance: 0,
            .body { [stage] in
                stage.fired.append(1)
                _ = stage.add(2, deadline: 10)
                _ = stage.add(3, deadline: 40)
            })
        #expect(stage.advance(to: 10) == 40)
        #expect(stage.fired.all == [1, 2])
    }

    @Test("everything is given up at shutdown, what was only asked for too")
    func removeAll() {
        let stage = Stage()
        let removed = Collected<UInt64>()
        _ = stage.add(1, deadline: 10)
        _ = stage.add(2, deadline: .max)
        _ = stage.advance(to: 0)
        _ = stage.add(3, deadline: 20)
        stage.service.removeAll { deadline, _ in removed.append(deadline) }
        #expect(removed.all.sorted() == [10, 20, .max])
        #expect(stage.advance(to: .max) == nil)
        #expect(stage.fired.all.isEmpty)
    }
}
