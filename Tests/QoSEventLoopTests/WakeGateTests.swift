import Testing

@testable import QoSEventLoop

@Suite("The gate of wake-ups")
struct WakeGateTests {
    @Test("lets one sender through until its callback begins")
    func coalesces() {
        let gate = WakeGate()
        let requests = [gate.request(), gate.request(), gate.request()]
        #expect(requests == [true, false, false])
        let isLast = gate.begin()
        #expect(!isLast)
        let again = gate.request()
        #expect(again)
    }

    @Test("closed without a wake-up under way, it owes no callback and lets nobody through")
    func closesIdle() {
        let gate = WakeGate()
        let owes = gate.close()
        #expect(!owes)
        let request = gate.request()
        #expect(!request)
    }

    @Test("closed with a wake-up under way, it owes a callback, which is the last one")
    func closesPending() {
        let gate = WakeGate()
        let request = gate.request()
        #expect(request)
        let owes = gate.close()
        #expect(owes)
        let late = gate.request()
        #expect(!late)
        let isLast = gate.begin()
        #expect(isLast)
    }
}
