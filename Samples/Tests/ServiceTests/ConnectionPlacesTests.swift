import SampleTestSupport
import Testing

@testable import qos_service

@Suite("The places for connections")
struct ConnectionPlacesTests {
    /// Places of which `idle` are taken by connections that were added and have no request.
    private func places(_ limit: Int, idle: Int) -> ConnectionPlaces<Int> {
        var places = ConnectionPlaces<Int>(limit: limit)
        for id in 0..<idle {
            places.take()
            #expect(places.add(id).isEmpty)
            #expect(places.settle(id).isEmpty)
        }
        return places
    }

    /// Closes a connection as its loops do.
    private func close(_ id: Int, _ places: inout ConnectionPlaces<Int>) {
        places.remove(id)
        places.release()
    }

    @Test("no more are accepted than there are places, and one that was given back is free")
    func limits() {
        var places = places(3, idle: 2)
        #expect(places.isAccepting)
        places.take()
        #expect(!places.isAccepting, "though it has no handlers yet")
        places.release()
        #expect(places.isAccepting)
    }

    @Test("the one that was idle for longest leaves, and its place is free when it is closed")
    func evicts() {
        var places = places(4, idle: 3)
        _ = places.begin(0)
        _ = places.finish(0)
        places.take()
        #expect(places.add(3) == [1])
        #expect(!places.isAccepting)
        close(1, &places)
        #expect(places.isAccepting)
    }

    @Test("two that are added before either eviction has ended make room twice")
    func evictsTwice() {
        var places = places(4, idle: 3)
        places.take()
        places.take()
        #expect(places.add(3) == [0])
        #expect(places.add(4) == [1])
        close(0, &places)
        close(1, &places)
        #expect(places.isAccepting)
    }

    @Test("one that leaves by itself while it is being closed is counted once")
    func evictsLeaving() {
        var places = places(4, idle: 3)
        places.take()
        #expect(places.add(3) == [0])
        close(0, &places)
        places.remove(0)
        places.take()
        #expect(places.add(4) == [1])
    }

    @Test("one that had no time for its first request stays; it leaves when it has not used its time")
    func keepsFresh() {
        var places = places(3, idle: 2)
        for id in 0..<2 { #expect(places.begin(id).isEmpty) }
        places.take()
        #expect(places.add(2).isEmpty)
        #expect(!places.isAccepting)
        #expect(places.settle(2) == [2], "all others are busy")
        close(2, &places)
        #expect(places.isAccepting)
        places.take()
        #expect(places.add(3).isEmpty)
        #expect(places.begin(3).isEmpty)
        #expect(places.settle(3).isEmpty, "it has a request")
        #expect(places.finish(0) == [0])
    }

    @Test("when the last place went to a request, the first that ends makes room")
    func makesRoomAtEnd() {
        var places = places(3, idle: 2)
        for id in 0..<2 { #expect(places.begin(id).isEmpty) }
        places.take()
        #expect(places.add(2).isEmpty)
        #expect(places.begin(2).isEmpty)
        #expect(places.finish(1) == [1], "no other one is idle")
    }

    @Test("one that was chosen and gets a request before it is closed stays, and another one leaves")
    func keepsThoseWithRequest() {
        var places = places(4, idle: 3)
        places.take()
        #expect(places.add(3) == [0])
        #expect(places.isLeaving(0))
        #expect(places.begin(0) == [1])
        #expect(!places.isLeaving(0) && places.isLeaving(1))
        #expect(places.finish(0).isEmpty, "one leaves already")
    }

    @Test("events of connections that are gone change nothing")
    func ignoresGone() {
        var places = places(3, idle: 2)
        close(0, &places)
        #expect(places.begin(0).isEmpty && places.finish(0).isEmpty && places.settle(0).isEmpty)
        #expect(!places.isLeaving(0))
        places.remove(0)
        #expect((places.count, places.taken) == (1, 1))
    }

    @Test("in any order of events every client that waits is accepted in the end", arguments: 0..<300 as Range<UInt64>)
    func isLive(seed: UInt64) {
        var world = ConnectionWorld(seed: seed)
        world.run()
        #expect(world.waiting == 0, "seed \(seed): accepting has stopped for good")
        #expect(world.closedWithRequest == 0, "seed \(seed)")
        #expect(world.most <= world.limit, "seed \(seed)")
    }
}

/// The loops around the places: each event that is under way may come next.
private struct ConnectionWorld {
    private enum Event {
        case add(Int)
        case settle(Int)
        case begin(Int)
        case finish(Int)
        case close(Int)
        case hangUp(Int)
        case release
    }

    private var random: SeededGenerator
    private var places: ConnectionPlaces<Int>
    private var underWay: [Event] = []
    private var open: Set<Int> = []
    private var busy: Set<Int> = []
    private var last = 0

    let limit: Int
    /// Clients in the backlog.
    private(set) var waiting = 60
    private(set) var closedWithRequest = 0
    private(set) var most = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        limit = Int.random(in: 2...6, using: &random)
        places = ConnectionPlaces(limit: limit)
    }

    /// Runs until nothing is under way and nobody can be accepted.
    mutating func run() {
        while true {
            let canAccept = waiting > 0 && places.isAccepting
            let index = Int.random(in: 0...underWay.count, using: &random)
            if canAccept, index == underWay.count {
                accept()
            } else if !underWay.isEmpty {
                take(underWay.remove(at: min(index, underWay.count - 1)))
            } else if !canAccept {
                return
            }
        }
    }

    private mutating func accept() {
        waiting -= 1
        places.take()
        most = max(most, places.taken)
        last += 1
        // Some fail before they have handlers.
        underWay.append(Int.random(in: 0..<20, using: &random) == 0 ? .release : .add(last))
    }

    private mutating func take(_ event: Event) {
        switch event {
        case .add(let id):
            open.insert(id)
            closeLater(places.add(id))
            underWay.append(.settle(id))
            // The others stay silent for ever.
            if Bool.random(using: &random) { underWay.append(.begin(id)) }
            if Int.random(in: 0..<8, using: &random) == 0 { underWay.append(.hangUp(id)) }
        case .settle(let id):
            closeLater(places.settle(id))
        case .begin(let id):
            guard open.contains(id) else { return }
            busy.insert(id)
            closeLater(places.begin(id))
            underWay.append(.finish(id))
        case .finish(let id):
            guard busy.remove(id) != nil else { return }
            closeLater(places.finish(id))
            if Int.random(in: 0..<3, using: &random) == 0 { underWay.append(.begin(id)) }
        case .close(let id):
            guard places.isLeaving(id) else { return }
            if busy.contains(id) { closedWithRequest += 1 }
            remove(id)
        case .hangUp(let id):
            remove(id)
        case .release:
            places.release()
        }
    }

    private mutating func closeLater(_ chosen: [Int]) {
        underWay += chosen.map { .close($0) }
    }

    private mutating func remove(_ id: Int) {
        guard open.remove(id) != nil else { return }
        busy.remove(id)
        places.remove(id)
        underWay.append(.release)
    }
}
