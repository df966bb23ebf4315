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
        func add(_ number: Int, deadline: UInt64, tolerance: UInt64 = 0, isPrompt: Bool = false) -> Bool {
            service.add(
                TimerWindow(deadline: deadline, tolerance: tolerance, isPrompt: isPrompt),
                .body { [fired] in fired.append(number) })
        }

        /// Adds a timer that can be cancelled.
        func addTicket(_ number: Int, deadline: UInt64) -> TimerTicket {
            let ticket = TimerTicket(.body { [fired] in fired.append(number) })
            _ = service.add(TimerWindow(deadline: deadline, tolerance: 0), .ticket(ticket))
            return ticket
        }

        /// Adds a timer that sets itself again each time it fires.
        func addEternal(deadline: UInt64) {
            _ = service.add(
                TimerWindow(deadline: deadline, tolerance: 0),
                .body { [unowned self] in
                    fired.append(0)
                    addEternal(deadline: deadline)
                })
        }

        /// Lets the loop look at a moment.
        func advance(to now: UInt64) -> UInt64? {
            service.advance(now: { now }, fire: Self.run)
        }

        static func run(_ payload: TimerService.Payload) {
            switch payload {
            case .body(let body): body()
            case .ticket(let ticket): ticket.take().map(run)
            case .job, .sleep, .entry: break
            }
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

    @Test("a timer that is set by one that fires waits for the next turn, and is not forgotten")
    func setWhileFiring() {
        let stage = Stage()
        _ = stage.service.add(
            TimerWindow(deadline: 10, tolerance: 0),
            .body { [stage] in
                stage.fired.append(1)
                _ = stage.add(2, deadline: 10)
                _ = stage.add(3, deadline: 40)
            })
        #expect(stage.advance(to: 10) == 10)
        #expect(stage.fired.all == [1])
        #expect(stage.advance(to: 10) == 40)
        #expect(stage.fired.all == [1, 2])
    }

    @Test("timers that are due again and again leave the loop its turns", .timeLimit(.minutes(5)))
    func eternal() {
        let stage = Stage()
        for _ in 0..<20 { stage.addEternal(deadline: 10) }
        for turn in 1...50 {
            #expect(stage.advance(to: 10) == 10)
            #expect(stage.fired.all.count == 20 * turn)
        }
    }

    @Test("a turn fires a limited number, in order; the next ones go on without waiting for a window to end")
    func limited() {
        let stage = Stage()
        let (limit, rest) = (TimerService.firingsPerTurn, 10)
        _ = stage.add(0, deadline: 10)
        for number in 1..<limit + rest { _ = stage.add(number, deadline: 10 - 1, tolerance: 100) }
        #expect(stage.advance(to: 20) == 20)
        #expect(stage.fired.all.count == limit)
        #expect(stage.advance(to: 20) == nil)
        #expect(Set(stage.fired.all) == Set(0..<limit + rest))
    }

    @Test("S6 a prompt timer fires at its deadline; with others in its window, at the latest of their deadlines")
    func prompt() {
        let stage = Stage()
        _ = stage.add(1, deadline: 10, tolerance: 20, isPrompt: true)
        #expect(stage.advance(to: 0) == 10)
        _ = stage.add(2, deadline: 15, tolerance: 20, isPrompt: true)
        // The loop wakes up for the first one, before it learns that the second one could go with it.
        #expect(stage.advance(to: 10) == 15)
        #expect(stage.fired.all == [1])
        _ = stage.add(3, deadline: 18, tolerance: 5, isPrompt: true)
        _ = stage.add(4, deadline: 24, tolerance: 0, isPrompt: true)
        #expect(stage.advance(to: 14) == 18)
        #expect(stage.advance(to: 18) == 24)
        #expect(stage.fired.all == [1, 2, 3])
    }

    @Test("a timer that is cancelled does not fire and leaves the loop's set, wherever the request is")
    func cancelled() {
        let stage = Stage()
        let (first, second) = (stage.addTicket(1, deadline: 10), stage.addTicket(2, deadline: 20))
        _ = stage.advance(to: 0)
        let third = stage.addTicket(3, deadline: 5)
        #expect(stage.service.cancel(first).payload != nil)
        #expect(stage.service.cancel(third).payload != nil)
        #expect(stage.service.cancel(third).payload == nil)
        #expect(stage.advance(to: 0) == 20)
        #expect(stage.service.count == 1)
        #expect(stage.advance(to: 20) == nil)
        #expect(stage.fired.all == [2])
        #expect(stage.service.cancel(second).payload == nil)
    }

    @Test("what a cancelled timer holds goes at once; the loop is woken when it keeps too many")
    func cancelledMemory() {
        let stage = Stage()
        weak var held: Tally?
        let tickets = (0..<TimerService.keptCancellations).map { number -> TimerTicket in
            let tally = Tally()
            held = tally
            let ticket = TimerTicket(.body { tally.add() })
            _ = stage.service.add(TimerWindow(deadline: .max, tolerance: 0), .ticket(ticket))
            return ticket
        }
        _ = stage.advance(to: 0)
        let wakes = tickets.map { stage.service.cancel($0).wakesLoop }
        #expect(wakes == Array(repeating: false, count: wakes.count - 1) + [true])
        #expect(held == nil)
        #expect(stage.service.count == wakes.count)
        #expect(stage.advance(to: 0) == nil)
        #expect(stage.service.count == 0)
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
