/// What is known about the code that submits or creates work; from it follows the level it does that with.
///
/// A value, so that the order of the rules can be tested without tasks and threads.
package struct SubmitterFacts: Sendable, Hashable {
    /// Whether code stands in the execution of a work item or operation, and at which level that runs.
    package var work: QoSLevel?

    /// The class with which a task was made to run that work; `nil` where the work is a part of a task that was there before.
    package var workBegunAt: QoSClass?

    /// The level that the surrounding activity gives (rule S8), and the class of the task that began it.
    package var activity: (level: QoSLevel, begunAt: QoSClass?)? {
        get { activityLevel.map { ($0, activityBegunAt) } }
        set { (activityLevel, activityBegunAt) = (newValue?.level, newValue?.begunAt) }
    }

    /// The class of the calling task's priority as it is now, escalations included; `nil` outside of tasks.
    package var task: QoSClass?

    /// The level of a thread that has one of its own (rule T1); `nil` when it was opted out (rule T4).
    package var thread: QoSLevel?

    /// The level of the main thread (rule T5), if the code runs on it.
    package var mainThread: QoSLevel?

    private var activityLevel: QoSLevel?
    private var activityBegunAt: QoSClass?

    /// Nothing is known.
    package init() {}

    /// The level that the code submits and creates with, before the translation of B6 (rules B6, O1, O2, S8, T5).
    ///
    /// - Work comes first, then the surrounding activity, then the task, then the thread.
    /// - A task that something higher waits for, raises what it runs and what its activity gives (rule O8). Work that was lowered since
    ///   its task was made is not raised by the task's class, which cannot be taken back (rule O7).
    /// - A task of class `default` carries no information (rule C2); on a main thread that has a level above that, the main
    ///   thread's counts (rule O2).
    /// - `nil` is unspecified (rule C1).
    package var level: QoSLevel? {
        if let work {
            guard let task, task > workBegunAt ?? work.qosClass, task > work.qosClass else { return work }
            return QoSLevel(task)
        }
        if let activity {
            guard let task, task > activity.begunAt ?? .userInteractive, task > activity.level.qosClass else {
                return activity.level
            }
            return QoSLevel(task)
        }
        if let task {
            guard task == .default, let mainThread, mainThread > .default else { return QoSLevel(task) }
            return mainThread
        }
        return thread ?? mainThread
    }
}
