import Testing

@testable import QoSCore

@Suite("A timer queue")
struct TimerQueueTests {
    /// A window, and the letter by which its timer is told from others.
    struct Window: Sendable {
        let name: String
        let deadline: UInt64
        let tolerance: UInt64

        init(_ name: String, _ deadline: UInt64, _ tolerance: UInt64) {
            self.name = name
            self.deadline = deadline
            self.tolerance = tolerance
        }
    }

    /// Windows, and the wake-ups that a driver makes which sleeps until `nextWake` each time.
    struct Course: Sendable, CustomTestStringConvertible {
        let title: String
        let windows: [Window]
        let wakeUps: [String]

        var testDescription: String { title }
    }

    static let courses = [
        Course(title: "no timer, no wake-up", windows: [], wakeUps: []),
        Course(title: "one exact timer", windows: [Window("a", 10, 0)], wakeUps: ["10:a"]),
        Course(
            title: "a window is used to its end",
            windows: [Window("a", 10, 5)],
            wakeUps: ["15:a"]
        ),
        Course(
            title: "overlapping windows fire together, in order of deadline",
            windows: [Window("b", 12, 10), Window("a", 10, 5), Window("c", 14, 1)],
            wakeUps: ["15:abc"]
        ),
        Course(
            title: "an exact timer takes a tolerant one along",
            windows: [Window("tolerant", 0, 100), Window("exact", 50, 0)],
            wakeUps: ["50:tolerantexact"]
        ),
        Course(
            title: "windows that only touch fire together",
            windows: [Window("a", 10, 10), Window("b", 20, 10)],
            wakeUps: ["20:ab"]
        ),
        Course(
            title: "windows apart fire apart",
            windows: [Window("a", 10, 5), Window("b", 16, 5)],
            wakeUps: ["15:a", "21:b"]
        ),
        Course(
            title: "ties fire in order of insertion",
            windows: [Window("c", 7, 0), Window("a", 7, 0), Window("b", 7, 0)],
            wakeUps: ["7:cab"]
        ),
        Course(
            title: "a window beyond the end of time ends there",
            windows: [Window("never", .max, .max), Window("late", .max - 1, 10), Window("now", 0, 0)],
            wakeUps: ["0:now", "\(UInt64.max):latenever"]
        ),
    ]

    @Test("S6 timers whose windows overlap fire in one wake-up, none early", arguments: courses)
    func coalesces(course: Course) {
        var queue = TimerQueue<String>()
        for window in course.windows {
            queue.insert(deadline: window.deadline, tolerance: window.tolerance, window.name)
        }
        var wakeUps: [String] = []
        while let now = queue.nextWake {
            var fired = ""
            while let name = queue.popExpired(now: now) {
                fired += name
            }
            wakeUps.append("\(now):\(fired)")
        }
        #expect(wakeUps == course.wakeUps)
        #expect(queue.isEmpty)
    }

    @Test("S6 no timer fires before its deadline", arguments: [(9, false), (10, true), (11, true)] as [(UInt64, Bool)])
    func neverEarly(now: UInt64, fires: Bool) {
        var queue = TimerQueue<Int>()
        queue.insert(deadline: 10, tolerance: 1000, 1)
        #expect((queue.popExpired(now: now) != nil) == fires)
        #expect(queue.count == (fires ? 0 : 1))
    }

    @Test("a cancelled timer hands back its payload once and is forgotten by nextWake")
    func cancels() {
        var queue = TimerQueue<String>()
        let first = queue.insert(deadline: 10, tolerance: 0, "first")
        queue.insert(deadline: 20, tolerance: 5, "second")
        #expect(queue.nextWake == 10)
        #expect(queue.cancel(first) == "first")
        #expect(queue.nextWake == 25)
        #expect(queue.nextDeadline == 20)
        #expect(queue.cancel(first) == nil)
        #expect(queue.count == 1)
    }

    @Test("the name of a timer that fired does not cancel the timer that took its place")
    func namesAreNotReused() {
        var queue = TimerQueue<String>()
        let fired = queue.insert(deadline: 1, tolerance: 0, "old")
        #expect(queue.popExpired(now: 1) == "old")
        let successor = queue.insert(deadline: 1, tolerance: 0, "new")
        #expect(successor.slot == fired.slot)
        #expect(queue.cancel(fired) == nil)
        #expect(queue.cancel(successor) == "new")
    }

    @Test("a queue that runs empty releases its payloads and gives large arrays back")
    func releasesMemory() {
        final class Payload {}
        var queue = TimerQueue<Payload>()
        weak var last: Payload?
        var ids: [TimerID] = []
        for deadline in 0..<5000 as Range<UInt64> {
            let payload = Payload()
            last = payload
            ids.append(queue.insert(deadline: deadline, tolerance: 0, payload))
        }
        #expect(last != nil)
        while queue.popExpired(now: .max) != nil {}
        #expect(last == nil)
        #expect(queue.payloads.capacity == 0)
        #expect(queue.heap.slots.capacity == 0)
        #expect(queue.heap.nodes.capacity == 0)
        for id in ids where queue.cancel(id) != nil {
            Issue.record("a fired timer was cancelled")
        }
        // It goes on as a new one.
        queue.insert(deadline: 1, tolerance: 0, Payload())
        #expect(queue.popExpired(now: 1) != nil)
        #expect(queue.isEmpty)
    }

    @Test("a copy of a queue is independent of it")
    func isAValue() {
        var queue = TimerQueue<Int>()
        let id = queue.insert(deadline: 1, tolerance: 0, 1)
        var copy = queue
        #expect(copy.cancel(id) == 1)
        #expect(queue.count == 1)
        #expect(queue.popExpired(now: 1) == 1)
    }

    @Test("a cancelled payload is released at once, beside timers that are left")
    func cancelReleases() {
        final class Payload {}
        var queue = TimerQueue<Payload>()
        weak var cancelled: Payload?
        queue.insert(deadline: 1, tolerance: 0, Payload())
        do {
            let payload = Payload()
            cancelled = payload
            let id = queue.insert(deadline: 2, tolerance: 0, payload)
            #expect(queue.cancel(id) === payload)
        }
        #expect(cancelled == nil)
        #expect(queue.count == 1)
    }

    @Test("a timer costs 48 bytes in the heap, and with a reference 56, as the documentation says")
    func memory() {
        let heap = MemoryLayout<TimerHeap.Node>.stride + MemoryLayout<TimerHeap.Slot>.stride
        #expect(MemoryLayout<TimerHeap.Node>.stride == 32)
        #expect(heap == 48)
        #expect(heap + MemoryLayout<AnyObject?>.stride == 56)
    }
}
