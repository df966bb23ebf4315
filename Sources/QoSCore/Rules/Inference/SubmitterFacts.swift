/// The known facts about code that submits or creates work. They give the level of that work.
///
/// It is a value, so tests of the rules' order need no tasks and threads.
package struct SubmitterFacts: Sendable, Hashable {
    /// The level of the work item or operation that runs the code; `nil` outside of both.
    package var work: QoSLevel?

    /// The class of the task that was made to run that work; `nil` if the work is a part of an older task.
    package var workBegunAt: QoSClass?

    /// The level of the surrounding activity (rule S8), and the class of the task that began it.
    package var activity: (level: QoSLevel, begunAt: QoSClass?)? {
        get { activityLevel.map { ($0, activityBegunAt) } }
        set { (activityLevel, activityBegunAt) = (newValue?.level, newValue?.begunAt) }
    }

    /// The class of the calling task's present priority, escalations included; `nil` outside of tasks.
    package var task: QoSClass?

    /// The level of a thread that has one of its own (rule T1); `nil` if the thread was opted out (rule T4).
    package var thread: QoSLevel?

    /// The level of the main thread (rule T5); `nil` on other threads.
    package var mainThread: QoSLevel?

    private var activityLevel: QoSLevel?
    private var activityBegunAt: QoSClass?

    /// Makes facts without any knowledge.
    package init() {}

    /// The level with which the code submits and creates work, before the translation of B6 (rules B6, O1, O2, S8, T5).
    ///
    /// - Work comes first, then the surrounding activity, then the task, then the thread.
    /// - A task with a higher waiter raises the work that it runs, and the level of its activity (rule O8). The task's
    ///   class cannot be taken back. So it does not raise work that was lowered after its task was made (rule O7).
    /// - A task of class `default` carries no information (rule C2). On a main thread with a level above that, the main
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

extension QoSLevel {
    /// The level that submitted work infers from a submitter: the same level, but at most `userInitiated` (rule B6).
    ///
    /// Work that a user watches does not hand this on. The function is monotone: a higher submitter never hands on a
    /// lower level. Applying it twice changes nothing.
    ///
    /// - Complexity: O(1).
    package var propagated: QoSLevel { min(self, .userInitiated) }
}
