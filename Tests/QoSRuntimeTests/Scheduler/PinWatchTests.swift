import Testing

@testable import QoSRuntime

@Suite("Whether others have taken the processor that a worker is bound to")
struct PinWatchTests {
    private let second: UInt64 = 1_000_000_000

    @Test("the first look only remembers")
    func first() {
        var watch = PinWatch()
        #expect(watch.looked(on: 0, ran: 0, waited: 10 * second) == false)
    }

    @Test(
        "it is the worker's as long as that waits for less than it runs, or next to nothing",
        arguments: [(250, 0), (250, 24), (0, 24), (170, 80), (143, 107)] as [(UInt64, UInt64)])
    func keeps(_ ran: UInt64, _ waited: UInt64) {
        var watch = PinWatch()
        _ = watch.looked(on: 0, ran: second, waited: second)
        #expect(watch.looked(on: 0, ran: second + ran * 1_000_000, waited: second + waited * 1_000_000) == false)
    }

    @Test(
        "it is taken when somebody else has it for as long, or for all of the time",
        arguments: [(125, 125), (0, 250), (30, 30), (140, 106)] as [(UInt64, UInt64)])
    func taken(_ ran: UInt64, _ waited: UInt64) {
        var watch = PinWatch()
        _ = watch.looked(on: 0, ran: second, waited: second)
        #expect(watch.looked(on: 0, ran: second + ran * 1_000_000, waited: second + waited * 1_000_000) == true)
    }

    @Test("waiting elsewhere, or waiting that is not judged, says nothing of a processor")
    func elsewhere() {
        var watch = PinWatch()
        let places: [Int?] = [0, 1, nil, 1, 1]
        let taken = places.enumerated().map { look, place in
            watch.looked(on: place, ran: 0, waited: UInt64(look) * second)
        }
        #expect(taken == [false, false, false, false, true])
    }

    @Test("some looks later it is used again, to see, and left to them again if nothing has changed")
    func again() {
        var (watch, taken) = (PinWatch(), TakenProcessors())
        var uses: [Bool] = []
        for look in 0..<20 as Range<UInt64> {
            _ = taken.looked()
            let isTaken = watch.looked(
                on: taken.contains(3) ? nil : 3, ran: look * 100_000_000, waited: look * 100_000_000)
            if isTaken { taken.insert(3) }
            uses.append(!taken.contains(3))
        }
        #expect(uses.prefix(2) == [true, false])
        // The first look after it only remembers.
        #expect(uses.prefix(12) == [true, false, false, false, false, false, false, false, false, true, false, false])
    }

    @Test("the counts of another thread, which begin anew, are no reason")
    func otherThread() {
        var watch = PinWatch()
        _ = watch.looked(on: 0, ran: second, waited: second)
        #expect(watch.looked(on: 0, ran: 0, waited: second / 2) == false)
        #expect(watch.looked(on: 0, ran: 0, waited: second) == true)
    }
}
