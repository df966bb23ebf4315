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

    /// Runs a body as an activity with a name (rules X1, X3).
    ///
    /// The activity follows the work that the body starts, even if it outlives the body: tasks, items of work queues,
    /// operations, and requests to other processes. Work that is detached, and handlers of timers, have none. Activities
    /// nest, and each knows its parent. The level of the body, and that of the work that it starts, does not change:
    /// `performActivity(_:reason:_:)` begins an activity with demands.
    ///
    /// ```swift
    /// try await QoS.withActivity("nightly export") {
    ///     QoS.leaveBreadcrumb("export began")
    ///     try await export()
    /// }
    /// ```
    /// `qosctl activities` lists the running activities of a process, also of one that hangs. It shows 256 at a time,
    /// and the first 63 bytes of each name. Any thread or task.
    ///
    /// - Parameters:
    ///   - name: for people: the kind of the work, or the request. It may differ each time.
    ///   - body: the work of the activity.
    public static func withActivity<Success, Failure: Error>(
        _ name: String, _ body: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        try performActivity([], reason: name, body)
    }

    /// Runs an async body as an activity with a name (rules X1, X3).
    ///
    /// Otherwise like the synchronous form.
    public nonisolated(nonsending) static func withActivity<Success, Failure: Error>(
        _ name: String, _ body: nonisolated(nonsending) () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        try await performActivity([], reason: name, body)
    }

    /// Adds a message to the trace of the calling code's activity (rule X3).
    ///
    /// The last 1,024 events of each worker, and of all other threads together, stay in the memory that the process
    /// shows. `qosctl postmortem` prints them with the activities, also after the process was killed.
    ///
    /// Without an activity the message belongs to none. Takes no lock, except for the first use of a literal. Any thread
    /// or task.
    ///
    /// - Parameter message: a literal of 1 to 63 bytes; a longer one is cut.
    public static func trace(_ message: StaticString) { note(.message, message) }

    /// Notes a major event of the program in the calling code's activity (rule X3): what someone who looks into a crash
    /// wants to know first.
    ///
    /// Otherwise like ``trace(_:)``.
    ///
    /// - Parameter event: a literal of 1 to 63 bytes; a longer one is cut.
    public static func leaveBreadcrumb(_ event: StaticString) { note(.breadcrumb, event) }

    private static func note(_ kind: DiagnosticsRecord.Kind, _ text: StaticString) {
        guard text.hasPointerRepresentation else { return }
        let number = unsafe DiagnosticsMapping.number(ofLiteral: text.utf8Start)
        PoolGroup.record(kind, text: number, of: activity?.id ?? 0)
    }

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
        let running = RunningActivity(options, reason: reason)
        defer { running.end() }
        return try LevelScope.$current.bound(to: LevelScope(activity: running.activity), body)
    }

    /// Runs an async body as an activity. Work that the body creates without a level of its own gets the activity's
    /// level (rules S8, O1).
    ///
    /// Otherwise like the synchronous form.
    public nonisolated(nonsending) static func performActivity<Success, Failure: Error>(
        _ options: ActivityOptions, reason: String, _ body: nonisolated(nonsending) () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let running = RunningActivity(options, reason: reason)
        defer { running.end() }
        return try await LevelScope.$current.bound(to: LevelScope(activity: running.activity), body)
    }
}
