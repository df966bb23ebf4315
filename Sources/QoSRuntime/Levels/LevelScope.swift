import QoSCore

/// The surroundings that give a level to work that the calling code creates and submits.
///
/// They are the activity in which the code was started, and the innermost scope that names a level. Such a scope is an
/// activity (rule S8) or ``QoSScheduler/withQoS(_:operation:)``.
///
/// Tasks and their children inherit the scope.
struct LevelScope: Sendable {
    /// A level, and the recorded class of the task for which it was given. The class shows whether the task was raised
    /// since.
    typealias Given = (level: QoSLevel, begunAt: QoSClass?)

    @TaskLocal static var current: LevelScope?

    /// The activity.
    let activity: Activity?

    /// The innermost level that a scope names; `nil` for none.
    let given: Given?

    /// Makes the scope of an activity, which has taken over the level of outer scopes.
    init(activity: Activity?) {
        self.activity = activity
        given = activity?.inherited
    }

    /// Makes the scope of a class for the calling task. The activity stays.
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

    /// Whether a scope, an operation or a captured context gives the calling code a level. Tasks made here would
    /// inherit it.
    static var levelSurroundsCaller: Bool { current?.given != nil || WorkScope.task != nil }

    /// Runs a body in a task that was made for a class, with the level of that class. What surrounded the task's
    /// creation gives it none: no scope, no operation, no captured context.
    nonisolated(nonsending) static func withinTask<Success, Failure: Error>(
        at qosClass: QoSClass, _ body: nonisolated(nonsending) () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        try await WorkScope.$task.bound(to: nil) { () async throws(Failure) -> Success in
            try await $current.bound(to: LevelScope(ofTaskAt: qosClass), body)
        }
    }

    /// The class of the calling task's priority; `nil` outside of tasks.
    static var recordedClass: QoSClass? {
        ConcurrencyRuntime.priorityOfCurrentTask.flatMap(QoSClass.init(rawPriority:))
    }

    /// The class of the calling task; `nil` outside of tasks.
    ///
    /// If the task prefers an executor of ours, the result is the executor's class, or a higher class to which the task
    /// was raised. Otherwise it is the class of the task's priority.
    static var callingClass: QoSClass? {
        guard let recorded = recordedClass else { return nil }
        guard let own = ConcurrencyRuntime.preferredClass, own != recorded else { return recorded }
        if recorded > own, ConcurrencyRuntime.isCurrentTaskEscalated { return recorded }
        return recorded > own ? max(own, hiddenRaise ?? own) : own
    }

    /// The level that the innermost scope gives to the calling code; `nil` without such a scope.
    static var currentlyGiven: Given? {
        guard let given = current?.given else { return nil }
        guard let recorded = recordedClass, recorded > given.level.qosClass, let raised = hiddenRaise,
            raised > given.level.qosClass
        else { return given }
        return (QoSLevel(raised), given.begunAt)
    }

    /// The class to which a waiter or the program has raised the calling task, where the task's record does not show it.
    private static var hiddenRaise: QoSClass? {
        ConcurrencyRuntime.currentTask.flatMap(ConcurrencyRuntime.classNeeding(task:))
    }
}
