/// One background activity: when it starts, when its run is asked to defer, and what is reported (rule S5). A value;
/// time and obstacles are arguments.
package struct ActivityMachine: Sendable {
    /// The action after a look.
    package struct Step: Sendable, Hashable {
        /// Whether a run begins now.
        package var begins = false
        /// The reason for which the run is asked to defer from now on; `nil` if nothing changes.
        package var defers: String?
        /// The limit that the run has just exceeded.
        package var overrun: ActivityOverrun?
        /// The time until the next look, in nanoseconds; `nil` if no time changes anything.
        package var next: Int64?
        /// The time by which the next look may be later, in nanoseconds.
        package var tolerance: Int64 = 0
    }

    /// The end of a run.
    package enum Ending: Sendable, Hashable {
        case finished
        case deferred
        case failed(String)
        case cancelled
    }

    /// The present state, for people.
    package enum Phase: Sendable, Hashable {
        case waits(nanoseconds: Int64)
        case waitsForConditions(String)
        case runs(nanoseconds: Int64, deferral: String?)
        case ended
    }

    private struct Run: Sendable {
        let since: Int64
        var deferral: String?
        var deferredAt: Int64 = 0
        var overruns: Set<ActivityOverrun> = []
    }

    /// The activity.
    package let activity: BackgroundActivity
    private var course: ActivityCourse
    private var run: Run?
    private var obstacle: String?

    /// The ends of the runs so far.
    package private(set) var endings = 0
    /// The end of the last run.
    package private(set) var lastEnding: Ending?
    /// The duration of the last run, in nanoseconds.
    package private(set) var lastDuration: Int64 = 0

    /// Begins with an activity that makes sense (``BackgroundActivity/problem``).
    package init(_ activity: BackgroundActivity, at now: ClockReading) {
        self.activity = activity
        course = ActivityCourse(activity.schedule, at: now)
    }

    /// The duration of the present run, in nanoseconds; 0 without one.
    package var runDuration: Int64 { run.map { course.elapsed - $0.since } ?? 0 }

    /// Looks at the activity.
    ///
    /// - Parameters:
    ///   - now: the moment.
    ///   - obstacle: the reason why the activity must not run now; `nil` if it may.
    package mutating func looked(at now: ClockReading, obstacle: String?) -> Step {
        self.obstacle = obstacle
        var step = Step()
        switch course.looked(at: now) {
        case .ended: break
        case .waits(let nanoseconds):
            step.next = nanoseconds
            step.tolerance = Self.leeway(activity.schedule.tolerance)
        case .running:
            lookAtRun(&step)
        case .due(let left):
            // With an obstacle, only a change of the conditions helps, or the end of the window if that one is skipped.
            guard obstacle == nil else {
                step.next = left + 1
                break
            }
            begin(at: now, &step)
        case .late:
            if obstacle == nil { begin(at: now, &step) }
        }
        return step
    }

    /// Notes that the run has ended.
    package mutating func ended(_ ending: Ending, at now: ClockReading) {
        guard let run else { return }
        if ending == .deferred { course.deferred(at: now) } else { course.finished(at: now) }
        lastDuration = course.elapsed - run.since
        self.run = nil
        endings += 1
        lastEnding = ending
    }

    /// Asks the run to defer for a reason of the program.
    ///
    /// - Returns: whether it was not asked before.
    package mutating func asksToDefer(because reason: String) -> Bool {
        guard run != nil, run?.deferral == nil else { return false }
        run?.deferral = reason
        run?.deferredAt = course.elapsed
        return true
    }

    /// Returns the state at a moment.
    ///
    /// - Parameter obstacle: the reason why the activity must not run at this moment.
    package mutating func phase(at now: ClockReading, obstacle: String? = nil) -> Phase {
        switch course.looked(at: now) {
        case .ended: .ended
        case .waits(let nanoseconds): .waits(nanoseconds: nanoseconds)
        case .due, .late: .waitsForConditions(obstacle ?? self.obstacle ?? "it begins in a moment")
        case .running: .runs(nanoseconds: course.elapsed - (run?.since ?? 0), deferral: run?.deferral)
        }
    }

    private mutating func begin(at now: ClockReading, _ step: inout Step) {
        course.began(at: now)
        run = Run(since: course.elapsed)
        step.begins = true
        lookAtRun(&step)
    }

    private mutating func lookAtRun(_ step: inout Step) {
        guard var run else { return }
        let now = course.elapsed
        let runEnd = run.since.addingSaturating(activity.runLimit.schedulerNanoseconds)
        if now >= runEnd, run.overruns.insert(.runLimit).inserted { step.overrun = .runLimit }
        if run.deferral == nil, let reason = obstacle ?? (now >= runEnd ? "the run exceeds its limit" : nil) {
            run.deferral = reason
            run.deferredAt = now
            step.defers = reason
        }
        var next = now < runEnd ? runEnd : Int64.max
        if run.deferral != nil, !run.overruns.contains(.deferralLimit) {
            let end = run.deferredAt.addingSaturating(activity.deferralLimit.schedulerNanoseconds)
            if now < end {
                next = min(next, end)
            } else if step.overrun == nil {
                run.overruns.insert(.deferralLimit)
                step.overrun = .deferralLimit
            } else {
                next = now
            }
        }
        self.run = run
        if next < .max { step.next = next - now }
        step.tolerance = Self.leeway(min(activity.runLimit, activity.deferralLimit))
    }

    /// An eighth of a time, at most ten seconds: wake-ups of several activities fall together, and most of a window is
    /// left for good conditions.
    private static func leeway(_ time: Duration) -> Int64 {
        min(time.schedulerNanoseconds / 8, 10_000_000_000)
    }
}
