import Foundation
import QoSCore
import QoSTesting
import Testing

@Suite("The course of an activity")
struct ActivityCourseTests {
    private let hour: Int64 = 3_600_000

    private func makeCourse(
        _ world: ActivityWorld, _ schedule: ActivitySchedule = .every(.seconds(3_600), tolerance: .seconds(600))
    ) -> ActivityCourse {
        ActivityCourse(schedule, at: world.reading)
    }

    @Test("S5 the first run is due after the interval, and may begin until the window ends")
    func first() {
        var world = ActivityWorld()
        var course = makeCourse(world)
        #expect(course.looked(at: world.reading) == .waits(nanoseconds: hour * 1_000_000))
        world.pass(hour)
        #expect(course.looked(at: world.reading) == .due(nanoseconds: 600_000_000_000))
        world.pass(600_000)
        #expect(course.looked(at: world.reading) == .due(nanoseconds: 0))
        world.pass(1)
        #expect(course.looked(at: world.reading) == .late)
    }

    @Test("S5 runs inside their windows stay on the grid; a late run moves it, so that the next one is not too soon")
    func grid() {
        var world = ActivityWorld()
        var course = makeCourse(world)
        world.pass(hour + 300_000)
        course.began(at: world.reading)
        world.pass(1_000)
        course.finished(at: world.reading)
        #expect(course.looked(at: world.reading) == .waits(nanoseconds: (hour - 301_000) * 1_000_000))
        world.pass(hour - 301_000 + 2_000_000)
        course.began(at: world.reading)
        course.finished(at: world.reading)
        #expect(course.looked(at: world.reading) == .waits(nanoseconds: (hour - 600_000) * 1_000_000))
    }

    @Test("S5 a deferred run begins again in its window, after the delay, and does not count")
    func deferred() {
        var world = ActivityWorld()
        var course = makeCourse(world)
        world.pass(hour)
        course.began(at: world.reading)
        world.pass(10_000)
        course.deferred(at: world.reading)
        #expect(course.looked(at: world.reading) == .waits(nanoseconds: 60_000_000_000))
        world.pass(60_000)
        #expect(course.looked(at: world.reading) == .due(nanoseconds: 530_000_000_000))
    }

    @Test(
        "S5 after a downtime one late run takes the place of all missed ones, or the activity waits for its next window"
    )
    func downtime() {
        for (policy, expected) in [
            (ActivitySchedule.MissedRunPolicy.runOnce, ActivityCourse.Look.late),
            (.skip, .waits(nanoseconds: (hour / 2) * 1_000_000)),
        ] {
            var world = ActivityWorld()
            var course = makeCourse(world, .every(.seconds(3_600), tolerance: .seconds(600), ifMissed: policy))
            world.restart(after: hour * 10 + hour / 2)
            #expect(course.looked(at: world.reading) == expected, "\(policy)")
        }
    }

    @Test("S5 a single run is never skipped, and no other follows")
    func once() {
        var world = ActivityWorld()
        var course = makeCourse(world, .once(after: .seconds(60), tolerance: .seconds(1)))
        world.restart(after: hour)
        #expect(course.looked(at: world.reading) == .late)
        course.began(at: world.reading)
        #expect(course.looked(at: world.reading) == .running)
        course.finished(at: world.reading)
        #expect(course.looked(at: world.reading) == .ended)
    }

    @Test(
        "S5 setting the wall clock changes nothing while the machine runs",
        arguments: [-86_400_000, 86_400_000] as [Int64])
    func wallClock(jump: Int64) {
        var world = ActivityWorld()
        var course = makeCourse(world)
        world.pass(hour / 2)
        world.setWallClock(by: jump)
        #expect(course.looked(at: world.reading) == .waits(nanoseconds: hour / 2 * 1_000_000))
    }

    @Test("S5 a wall clock that was set back over a restart makes the activity wait for its interval, not for longer")
    func setBackOverRestart() {
        var world = ActivityWorld()
        var course = makeCourse(world)
        world.pass(hour / 4)
        _ = course.looked(at: world.reading)
        world.restart(after: 1_000)
        world.setWallClock(by: -1_000 * hour)
        #expect(course.looked(at: world.reading) == .waits(nanoseconds: hour * 3 / 4 * 1_000_000))
    }

    @Test(
        "S5 random worlds agree with the definition; no run comes early, twice in a window, or too soon",
        arguments: 0..<200)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let interval = Int64.random(in: 1...1_000, using: &random)
        let tolerance = Int64.random(in: 0..<interval, using: &random)
        let repeats = Int.random(in: 0..<8, using: &random) > 0
        let skips = Bool.random(using: &random)
        let retry = Int64.random(in: 0...interval, using: &random)
        var oracle = ActivityOracle(
            interval: interval, tolerance: tolerance, retryDelay: retry, skips: skips, repeats: repeats)
        let schedule =
            repeats
            ? ActivitySchedule.every(
                .milliseconds(interval), tolerance: .milliseconds(tolerance), ifMissed: skips ? .skip : .runOnce,
                retryDelay: .milliseconds(retry))
            : .once(
                after: .milliseconds(interval), tolerance: .milliseconds(tolerance), retryDelay: .milliseconds(retry))
        #expect(schedule.problem == nil)
        var world = ActivityWorld()
        var course = makeCourse(world, schedule)
        for _ in 0..<300 {
            world.pass(Int64.random(in: 0...interval, using: &random) / Int64.random(in: 1...4, using: &random))
            // What no clock can lose: the wall clock may be set while the machine runs, after the value has seen that.
            if Int.random(in: 0..<10, using: &random) == 0 {
                world.setWallClock(by: Int64.random(in: -5_000...5_000, using: &random))
                _ = course.looked(at: world.reading)
            }
            if Int.random(in: 0..<15, using: &random) == 0 {
                _ = course.looked(at: world.reading)
                world.restart(after: Int64.random(in: 0...(5 * interval), using: &random))
                course = try stored(course)
            }
            let look = course.looked(at: world.reading)
            switch look {
            case .waits(let nanoseconds):
                #expect(oracle.earliest(at: world.time) == world.time + nanoseconds / 1_000_000, "seed \(seed)")
                #expect(nanoseconds > 0, "seed \(seed)")
            case .due(let nanoseconds):
                let due = try #require(oracle.due(at: world.time))
                #expect(due + tolerance == world.time + nanoseconds / 1_000_000, "seed \(seed)")
                let earliest = try #require(oracle.earliest(at: world.time))
                #expect(earliest <= world.time, "seed \(seed)")
            case .late:
                let due = try #require(oracle.due(at: world.time))
                #expect(due + tolerance < world.time && !(skips && repeats), "seed \(seed)")
            case .running: #expect(oracle.runs.last?.ended == nil, "seed \(seed)")
            case .ended: #expect(oracle.due(at: world.time) == nil, "seed \(seed)")
            }
            switch look {
            case .due, .late:
                // A bad condition may keep it from beginning.
                guard Int.random(in: 0..<3, using: &random) > 0 else { continue }
                course.began(at: world.reading)
                oracle.runs.append(.init(began: world.time))
            case .running:
                guard Bool.random(using: &random) else { continue }
                let isDeferred = Int.random(in: 0..<3, using: &random) == 0
                oracle.runs[oracle.runs.count - 1].ended = world.time
                oracle.runs[oracle.runs.count - 1].isDeferred = isDeferred
                if isDeferred { course.deferred(at: world.reading) } else { course.finished(at: world.reading) }
            case .waits, .ended: continue
            }
        }
        let counted = oracle.runs.filter { $0.ended != nil && !$0.isDeferred }
        for (one, next) in zip(counted, counted.dropFirst()) {
            #expect(next.began - one.began >= interval - tolerance, "seed \(seed)")
        }
    }

    /// Returns the value after it was written and read.
    private func stored(_ course: ActivityCourse) throws -> ActivityCourse {
        try JSONDecoder().decode(ActivityCourse.self, from: JSONEncoder().encode(course))
    }

    @Test(
        "S5 a schedule that makes no sense is refused, with a remedy",
        arguments: [
            (ActivitySchedule.every(.zero), "use a millisecond or more"),
            (.every(.seconds(-5)), "use a millisecond or more"),
            (.every(.nanoseconds(1)), "use a millisecond or more"),
            (.every(.seconds(5), tolerance: .seconds(6)), "use less than the interval"),
            (.every(.seconds(5), tolerance: .seconds(5)), "use less than the interval"),
            (.every(.seconds(5), tolerance: .seconds(-1)), "use zero or more"),
            (.once(after: .seconds(-1)), "use zero or more"),
            (.once(retryDelay: .seconds(-1)), "use zero or more"),
            (.every(.seconds(Int64.max)), "use less"),
        ])
    func refused(schedule: ActivitySchedule, remedy: String) throws {
        let problem = try #require(schedule.problem)
        #expect(problem.hasSuffix(remedy))
        #expect(BackgroundActivity("a", schedule).problem == schedule.problem)
    }

    @Test("S5 an activity without a name, of a high class or without a limit is refused, with a remedy")
    func refusedActivity() {
        let daily = ActivitySchedule.every(.seconds(86_400))
        #expect(BackgroundActivity("", daily).problem?.hasSuffix("use a name") == true)
        #expect(
            BackgroundActivity("a", daily, qosClass: .default).problem?.hasSuffix("use background or utility") == true)
        #expect(BackgroundActivity("a", daily, runLimit: .zero).problem?.hasSuffix("use more than zero") == true)
        #expect(BackgroundActivity("a", daily, deferralLimit: .zero).problem?.hasSuffix("use more than zero") == true)
        #expect(BackgroundActivity("a", daily, qosClass: .utility).problem == nil)
    }
}
