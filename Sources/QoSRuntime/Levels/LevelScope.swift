import QoSCore

/// What surrounds the calling code and gives a level to what that creates and submits: the activity in which it was started, and the
/// innermost scope that says a level, an activity (rule S8) or ``QoSScheduler/withQoS(_:operation:)``.
///
/// It follows tasks and their children.
struct LevelScope: Sendable {
    /// The level, and the recorded class of the task for which it was given, to tell when that is raised.
    typealias Given = (level: QoSLevel, begunAt: QoSClass?)

    @TaskLocal static var current: LevelScope?

    /// The activity.
    let activity: Activity?

    /// The innermost level that was said; `nil` for none.
    let given: Given?

    /// Within an activity, which has taken what outer scopes say.
    init(activity: Activity?) {
        self.activity = activity
        given = activity?.inherited
    }

    /// Within a scope of a class for the calling task; the activity stays.
    init(of qosClass: QoSClass) {
        activity = Self.current?.activity
        given = (QoSLevel(qosClass), Self.recordedClass)
    }

    /// Within a task that was made for a class. A raise of the task raises the level, also if it came before the task
    /// began. The activity stays.
    private init(ofTaskAt qosClass: QoSClass) {
        activity = Self.current?.activity
        given = (QoSLevel(qosClass), qosClass)
    }

    /// Runs a body in a task that was made for a class, with the level of that class. Scopes around the task's creation
    /// give it none.
    nonisolated(nonsending) static func withinTask<Success, Failure: Error>(
        at qosClass: QoSClass, _ body: nonisolated(nonsending) () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        // Without a scope, the task's executor says the level.
        guard current?.given != nil else { return try await body() }
        return try await $current.bound(to: LevelScope(ofTaskAt: qosClass), body)
    }

    /// The class of the calling task's priority; `nil` outside of tasks.
    static var recordedClass: QoSClass? {
        ConcurrencyRuntime.priorityOfCurrentTask.flatMap(QoSClass.init(rawPriority:))
    }

    /// The class of the calling task: that of the executor of ours that it prefers or, where it was raised above that, what it was raised
    /// to; else that of its priority. `nil` outside of tasks.
    static var callingClass: QoSClass? {
        guard let recorded = recordedClass else { return nil }
        guard let own = ConcurrencyRuntime.preferredClass, own != recorded else { return recorded }
        if recorded > own, ConcurrencyRuntime.isCurrentTaskEscalated { return recorded }
        return ConcurrencyRuntime.currentTask.flatMap(RaisedTasks.qosClass).map { max($0, own) } ?? own
    }
}
