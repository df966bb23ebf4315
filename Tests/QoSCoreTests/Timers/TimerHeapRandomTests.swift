import QoSTesting
import Testing

@testable import QoSCore

@Suite("A timer heap, against a sorted array")
struct TimerHeapRandomTests {
    /// The same contract by an array in the order in which the timers fire.
    struct Model {
        struct Timer {
            let id: TimerID
            let deadline: UInt64
            let end: UInt64
        }

        private(set) var timers: [Timer] = []

        var nextWake: UInt64? { timers.map(\.end).min() }

        /// The latest deadline that is not after the end of the first window, whatever the number of timers.
        var sharedDeadline: UInt64? {
            nextWake.flatMap { end in timers.last { $0.deadline <= end }?.deadline }
        }

        func holds(slot: UInt32) -> Bool { timers.contains { $0.id.slot == slot } }

        mutating func insert(_ timer: Timer) {
            let place = timers.firstIndex { $0.deadline > timer.deadline } ?? timers.endIndex
            timers.insert(timer, at: place)
        }

        mutating func cancel(_ id: TimerID) -> Int? {
            timers.firstIndex { $0.id == id }.map { Int(timers.remove(at: $0).id.slot) }
        }

        mutating func popExpired(now: UInt64) -> Int? {
            guard let first = timers.first, first.deadline <= now else { return nil }
            return Int(timers.removeFirst().id.slot)
        }
    }

    /// One step of a random world.
    enum Step {
        case insert(deadline: UInt64, tolerance: UInt64)
        case cancel(TimerID)
        case pop(now: UInt64)
    }

    /// Fixed seeds, and a new one for each run.
    static let seeds: [UInt64] = [1, 2, 3, UInt64.random(in: 4...(.max))]

    /// Returns a step: of nearby times half of the time, so that ties and shared windows are frequent.
    private func step(_ number: Int, known ids: [TimerID], using random: inout SeededGenerator) -> Step {
        let range: UInt64 = number % 800 < 400 ? 30 : 10_000
        let grows = number % 600 < 300
        switch Int.random(in: 0..<10, using: &random) {
        case ..<(grows ? 6 : 2):
            let deadline = UInt64.random(in: 0...range, using: &random)
            let tolerance = UInt64.random(in: 0...range, using: &random)
            return .insert(deadline: number % 89 == 0 ? .max - deadline : deadline, tolerance: tolerance)
        case ..<7:
            guard let id = ids.randomElement(using: &random) else { return .pop(now: range) }
            return .cancel(id)
        default:
            return .pop(now: UInt64.random(in: 0...range, using: &random))
        }
    }

    @Test("S6 slots, order and wake-ups are those of a sorted array, whatever the steps", arguments: seeds)
    func agreesWithTheModel(seed: UInt64) throws {
        print("TimerHeapRandomTests seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var heap = TimerHeap()
        var model = Model()
        var ids: [TimerID] = []
        var mostTimers = 0
        for number in 0..<2_400 {
            let place: Comment = "seed \(seed), step \(number)"
            switch step(number, known: ids, using: &random) {
            case .insert(let deadline, let tolerance):
                let id = heap.insert(deadline: deadline, tolerance: tolerance)
                try #require(!model.holds(slot: id.slot), place)
                let end = tolerance > .max - deadline ? UInt64.max : deadline + tolerance
                model.insert(Model.Timer(id: id, deadline: deadline, end: end))
                ids.append(id)
            case .cancel(let id):
                try #require(heap.cancel(id) == model.cancel(id), place)
            case .pop(let now):
                try #require(heap.popExpired(now: now) == model.popExpired(now: now), place)
            }
            mostTimers = max(mostTimers, model.timers.count)
            try #require(heap.isConsistent, place)
            try #require(heap.count == model.timers.count && heap.isEmpty == model.timers.isEmpty, place)
            // Slots are used again before new ones are taken, so that an array beside the heap stays dense.
            try #require(heap.slotCount == mostTimers, place)
            try #require(heap.nextDeadline == model.timers.first?.deadline, place)
            try #require(heap.nextWake == model.nextWake, place)
            if let shared = model.sharedDeadline, let prompt = heap.nextPromptWake {
                // The search is limited, so it may find an earlier moment in a large heap only.
                try #require(model.timers.count <= 63 ? prompt == shared : prompt <= shared, place)
                try #require(model.timers.first.map { $0.deadline <= prompt } == true, place)
            } else {
                try #require(model.timers.isEmpty && heap.nextPromptWake == nil, place)
            }
        }
        try #require(mostTimers > 63, "seed \(seed): the world stayed small")
    }

    @Test("S6 an empty heap gives large arrays back, and its old identities find nothing in the new ones")
    func givesArraysBack() {
        var heap = TimerHeap()
        let ids = (0..<1_025).map { heap.insert(deadline: $0, tolerance: 0) }
        #expect(ids.map { Int($0.slot) } == Array(0..<1_025))
        while heap.popExpired(now: .max) != nil {}
        #expect(heap.slotCount == 0 && heap.nodes.capacity == 0 && heap.slots.capacity == 0)
        let successor = heap.insert(deadline: 1, tolerance: 0)
        #expect(successor.slot == ids[0].slot)
        #expect(heap.cancel(ids[0]) == nil && heap.cancel(ids[1_024]) == nil)
        #expect(heap.cancel(successor) == 0)
    }

    @Test("a small empty heap keeps its slots for the next timers")
    func keepsSmallArrays() {
        var heap = TimerHeap()
        for deadline in 0..<1_024 as Range<UInt64> { _ = heap.insert(deadline: deadline, tolerance: 0) }
        while heap.popExpired(now: .max) != nil {}
        #expect(heap.isEmpty && heap.slotCount == 1_024 && heap.isConsistent)
    }
}
