import QoSCore
import Testing

@testable import QoSRuntime

@Suite("The deadlines of a timer")
struct TimerCourseTests {
    @Test("one that fires once has one deadline")
    func once() {
        var course = TimerCourse(first: 10, interval: nil, tolerance: nil)
        #expect(course.take(now: 9) == 0)
        #expect(course.take(now: 1_000) == 1)
        #expect(course.next == nil && course.take(now: .max) == 0)
    }

    @Test(
        "all deadlines that have passed are taken at once, and the next follows from the first",
        arguments: [
            (10, 1, 15), (14, 1, 15), (15, 2, 20), (1_000_012, 200_001, 1_000_015),
        ] as [(UInt64, Int, UInt64)])
    func repeating(_ now: UInt64, _ count: Int, _ next: UInt64) {
        var course = TimerCourse(first: 10, interval: 5, tolerance: nil)
        #expect(course.take(now: now) == count)
        #expect(course.next == next)
        #expect(course.take(now: now) == 0)
    }

    @Test("deadlines end with time itself")
    func endOfTime() {
        var course = TimerCourse(first: .max - 1, interval: 5, tolerance: nil)
        #expect(course.take(now: .max - 1) == 1)
        #expect(course.next == nil)
        var long = TimerCourse(first: 0, interval: .max, tolerance: nil)
        #expect(long.take(now: 1) == 1)
        #expect(long.next == .max)
        #expect(long.take(now: .max) == 1)
        #expect(long.next == nil)
    }

    @Test("S6 the window has the timer's tolerance, or that of the class")
    func window() {
        let own = TimerCourse(first: 100, interval: 5, tolerance: 7)
        #expect(
            own.window(now: 0, of: .background)
                == TimerWindow(deadline: 100, tolerance: 7, isPrompt: false, for: .background))
        let inferred = TimerCourse(first: 100, interval: 5, tolerance: nil)
        #expect(
            inferred.window(now: 20, of: .default)
                == TimerWindow(deadline: 100, tolerance: 20, isPrompt: true, for: .default))
    }
}
