public import QoSCore
import QoSKernel

extension QoS {
    /// The activity in which the calling code was started; `nil` without one. Any thread or task.
    public static var activity: Activity? { LevelScope.current?.activity }

    /// The level that the innermost scope around the calling code gives to work created there; `nil` without one. A
    /// scope is an activity or ``QoSScheduler/withQoS(_:operation:)`` (rules O1, S8). The level is raised with the
    /// calling task (O8). Any thread or task.
    package static var levelOfScope: QoSLevel? {
        guard let given = LevelScope.currentlyGiven else { return nil }
        var facts = SubmitterFacts()
        facts.activity = given
        facts.task = LevelScope.callingClass
        return facts.level
    }

    /// The current activities of the process, in the order of their beginning. Any thread.
    public static var activities: [Activity] { Activity.all }

    /// Whether the machine is kept awake for activities with `idleSleepDisabled` (rule S8). Any thread.
    public static var idleSleepInhibition: IdleSleepInhibition { IdleSleepInhibition(IdleInhibitor.shared.state) }

    /// Runs a body as an activity. Work that the body creates without a level of its own gets the activity's level
    /// (rules S8, O1).
    ///
    /// The activity follows the tasks, submissions and operations that the body starts, even if they outlive it. The
    /// level of the running code itself does not change. Activities nest: the innermost one with a level counts.
    ///
    /// With `idleSleepDisabled` the machine does not go to sleep by itself until the body has ended, if it has logind
    /// and `systemd-inhibit`. ``idleSleepInhibition`` and the observer say if not; the body runs all the same.
    ///
    /// - Parameters:
    ///   - options: the demands of the activity; see `ActivityOptions.level` for the resulting level.
    ///   - reason: for diagnostics (``activities``).
    ///   - body: the work of the activity.
    public static func performActivity<Success, Failure: Error>(
        _ options: ActivityOptions, reason: String, _ body: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        let activity = Activity(options: options, reason: reason)
        activity.begin()
        defer { activity.end() }
        return try LevelScope.$current.bound(to: LevelScope(activity: activity), body)
    }

    /// Runs an async body as an activity. Work that the body creates without a level of its own gets the activity's
    /// level (rules S8, O1).
    ///
    /// Otherwise like the synchronous form.
    public nonisolated(nonsending) static func performActivity<Success, Failure: Error>(
        _ options: ActivityOptions, reason: String, _ body: nonisolated(nonsending) () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let activity = Activity(options: options, reason: reason)
        activity.begin()
        defer { activity.end() }
        return try await LevelScope.$current.bound(to: LevelScope(activity: activity), body)
    }
}
