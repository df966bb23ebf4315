import Testing

@testable import QoSRuntime

@Suite("Whether a worker keeps the processor that it is bound to")
struct PinWatchTests {
    private let second: UInt64 = 1_000_000_000

    @Test("the first look only remembers")
    func first() {
        var watch = PinWatch()
        #expect(watch.looked(ran: 0, waited: 10 * second) == .none)
        #expect(!watch.isReleased)
    }

    @Test(
        "it keeps it while it waits for less than it runs, or next to nothing",
        arguments: [(250, 0), (250, 24), (0, 24), (170, 80), (143, 107)] as [(UInt64, UInt64)])
    func keeps(_ ran: UInt64, _ waited: UInt64) {
        var watch = PinWatch()
        _ = watch.looked(ran: second, waited: second)
        #expect(watch.looked(ran: second + ran * 1_000_000, waited: second + waited * 1_000_000) == .none)
        #expect(!watch.isReleased)
    }

    @Test(
        "it is let go when somebody else has the processor for as long, or for all of the time",
        arguments: [(125, 125), (0, 250), (30, 30), (140, 106)] as [(UInt64, UInt64)])
    func releases(_ ran: UInt64, _ waited: UInt64) {
        var watch = PinWatch()
        _ = watch.looked(ran: second, waited: second)
        #expect(watch.looked(ran: second + ran * 1_000_000, waited: second + waited * 1_000_000) == .release)
        #expect(watch.isReleased)
    }

    @Test("some looks later it is bound again, to see, and let go again if nothing has changed")
    func again() {
        var watch = PinWatch()
        var actions: [PinWatch.Action] = []
        for look in 0..<22 as Range<UInt64> {
            actions.append(watch.looked(ran: look * 100_000_000, waited: look * 100_000_000))
        }
        #expect(actions.filter { $0 == .release }.count == 3)
        #expect(actions.filter { $0 == .pin }.count == 2)
        #expect(
            actions.prefix(11) == [.none, .release, .none, .none, .none, .none, .none, .none, .none, .pin, .release])
    }

    @Test("the counts of another thread, which begin anew, are no reason")
    func otherThread() {
        var watch = PinWatch()
        _ = watch.looked(ran: second, waited: second)
        #expect(watch.looked(ran: 0, waited: second / 2) == .none)
        #expect(watch.looked(ran: 0, waited: second) == .release)
    }
}
