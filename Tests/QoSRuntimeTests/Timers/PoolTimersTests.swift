import QoSCore
import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("Who wakes up for a pool's timers")
struct PoolTimersTests {
    private typealias Timers = PoolTimers<Int>

    private func fired(_ awakening: Timers.Awakening) -> [Int]? {
        if case .fires(let payloads, _) = awakening { payloads } else { nil }
    }

    @Test(
        "the worker that parks sleeps until the latest deadline that the timers can share, and the loop has nothing to do"
    )
    func parks() {
        var timers = Timers()
        timers.add(TimerWindow(deadline: 20, tolerance: 10), 1)
        timers.add(TimerWindow(deadline: 10, tolerance: 15), 2)
        #expect(timers.workerParks(0) == 20)
        #expect(timers.armed == .max)
        #expect(fired(timers.workerWoke(0, now: 19)) == [])
        #expect(fired(timers.workerWoke(0, now: 20)) == [2, 1])
        #expect(timers.next == .max && timers.kept == .max)
    }

    @Test("a worker that goes on instead leaves the timers to the loop's alarm, until somebody parks")
    func goesOn() {
        var timers = Timers()
        timers.add(TimerWindow(deadline: 10, tolerance: 0), 1)
        timers.workerGoesOn(0)
        #expect(timers.armed == 10)
        #expect(timers.loopLooks(now: 9) == [])
        #expect(timers.workerParks(1) == 10)
        #expect(timers.armed == .max)
        // The alarm had gone off already: that worker wakes up for it.
        #expect(timers.loopLooks(now: 10) == [])
        timers.workerGoesOn(1)
        #expect(timers.armed == 10)
        #expect(timers.loopLooks(now: 10) == [1])
        #expect(timers.armed == .max)
    }

    @Test(
        "who parks last keeps the timers; the one before sleeps on when it wakes, and may leave without anybody's taking over"
    )
    func takesOver() {
        var timers = Timers()
        timers.add(TimerWindow(deadline: 10, tolerance: 0), 1)
        #expect(timers.workerParks(0) == 10)
        #expect(timers.workerParks(1) == 10)
        #expect(fired(timers.workerWoke(0, now: 10)) == nil)
        timers.workerGoesOn(0)
        #expect(timers.keeper == 1 && timers.armed == .max)
        #expect(fired(timers.workerWoke(1, now: 10)) == [1])
    }

    @Test("an earlier timer while the keeper sleeps is the alarm's")
    func earlier() {
        var timers = Timers()
        timers.add(TimerWindow(deadline: 100, tolerance: 0), 1)
        #expect(timers.workerParks(0) == 100)
        timers.add(TimerWindow(deadline: 10, tolerance: 0), 2)
        timers.workerGoesOn(1)
        #expect(timers.armed == 10 && timers.kept == 100)
        #expect(timers.loopLooks(now: 10) == [2])
        #expect(timers.armed == .max && timers.kept == 100)
    }

    @Test("at shutdown all come out, in order, with their deadlines")
    func removeAll() {
        var timers = Timers()
        timers.add(TimerWindow(deadline: 20, tolerance: 0), 2)
        timers.add(TimerWindow(deadline: 10, tolerance: 50), 1)
        timers.workerGoesOn(0)
        let removed = timers.removeAll()
        #expect(removed.map(\.deadline) == [10, 20] && removed.map(\.payload) == [1, 2])
        #expect(timers.armed == .max && timers.next == .max)
    }

    @Test(
        "whatever happens: somebody sleeps no longer than until the next timer, each fires once, none early, none after its window",
        arguments: 1...200 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var timers = Timers()
        var now: UInt64 = 0
        var pending: [Int: (deadline: UInt64, end: UInt64)] = [:]
        var sleepers: [Int: UInt64] = [:]
        var awake = Set(0..<4)
        func note(_ payloads: [Int]) {
            for payload in payloads {
                let window = pending.removeValue(forKey: payload)
                #expect(window.map { $0.deadline <= now && now <= $0.end } == true)
            }
        }
        for number in 0..<2_000 {
            // A worker that is awake sets timers and then does one of two things.
            if let worker = awake.randomElement(using: &random) {
                for part in 0..<Int.random(in: 0..<3, using: &random) {
                    let deadline = now + UInt64.random(in: 0..<50, using: &random)
                    let tolerance = UInt64.random(in: 0..<20, using: &random)
                    timers.add(TimerWindow(deadline: deadline, tolerance: tolerance), number * 4 + part)
                    // What is due already is found when somebody looks next, which takes no time here.
                    pending[number * 4 + part] = (deadline, deadline + tolerance)
                }
                if Bool.random(using: &random) {
                    sleepers[worker] = timers.workerParks(worker)
                    awake.remove(worker)
                } else {
                    timers.workerGoesOn(worker)
                }
            }
            // Sometimes one is woken for work.
            if Int.random(in: 0..<4, using: &random) == 0, let worker = sleepers.keys.randomElement(using: &random) {
                sleepers[worker] = nil
                awake.insert(worker)
                timers.workerGoesOn(worker)
            }
            let end = pending.values.map(\.end).min() ?? .max
            #expect(min(timers.armed, sleepers.values.min() ?? .max) <= end)
            #expect(timers.next <= end)
            #expect(timers.next >= pending.values.map(\.deadline).min() ?? .max)
            // Time passes, at most until somebody wakes up.
            let wake = min(timers.armed, sleepers.values.min() ?? .max)
            now = min(wake, now + UInt64.random(in: 0..<30, using: &random))
            note(timers.loopLooks(now: now))
            for (worker, until) in sleepers where until <= now {
                switch timers.workerWoke(worker, now: now) {
                case .sleepsOn: sleepers[worker] = .max
                case .fires(let payloads, let then):
                    note(payloads)
                    sleepers[worker] = then
                }
            }
        }
        #expect(timers.removeAll().map(\.payload).sorted() == pending.keys.sorted())
    }
}
