import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("What a shutdown waits for")
struct ShutdownHoldsTests {
    @Test("it is empty before the first and after the last, in whatever order they end")
    func count() {
        let holds = ShutdownHolds()
        #expect(holds.isEmpty)
        let first = holds.begin(.task(nil)).hold
        let second = holds.begin(.task(nil)).hold
        #expect(!holds.isEmpty)
        #expect(!holds.end(first))
        #expect(!holds.isEmpty)
        #expect(holds.end(second))
        #expect(holds.isEmpty)
    }

    @Test("what begins once a shutdown goes on is to be raised at once, what began before is handed over")
    func promotion() async {
        let holds = ShutdownHolds()
        let (held, atOnce) = await Task {
            let before = holds.begin(.task(ConcurrencyRuntime.currentTask))
            let unknown = holds.begin(.task(nil))
            #expect(!before.promotesAtOnce)
            let held = holds.beginPromoting()
            for case .task(let address?) in held { ConcurrencyRuntime.escalateAndRelease(address, to: .userInitiated) }
            let after = holds.begin(.task(nil))
            _ = [before, unknown, after].map { holds.end($0.hold) }
            return (held.count, after.promotesAtOnce)
        }.value
        // The one without an address cannot be raised.
        #expect(held == 1)
        #expect(atOnce)
    }

    @Test("a body for the end is called once: at once when nothing is held, else by the last")
    func whenEmpty() {
        let (holds, calls) = (ShutdownHolds(), Tally())
        holds.whenEmpty { calls.add() }
        #expect(calls.value == 1)
        let (first, second) = (holds.begin(.task(nil)).hold, holds.begin(.task(nil)).hold)
        holds.whenEmpty { calls.add() }
        _ = holds.end(second)
        #expect(calls.value == 1)
        _ = holds.end(first)
        #expect(calls.value == 2)
        _ = holds.end(holds.begin(.task(nil)).hold)
        #expect(calls.value == 2)
    }
}
