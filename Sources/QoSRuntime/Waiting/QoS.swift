import CQoSShims
public import QoSCore
import _Concurrency

/// The quality of service of the calling code.
public enum QoS {
    /// The level at which the calling code runs, and with which it submits work without a level of its own (rules B6,
    /// O1, S8).
    ///  The first of these that applies:
    ///
    /// 1. The level of the work item or operation in whose execution the code runs.
    /// 2. The level of the innermost activity or ``QoSScheduler/withQoS(_:operation:)`` around it.
    /// 3. The class of the executor that the task was given to, unless the task was raised above that.
    /// 4. For a task without such an executor, the class of its priority.
    /// 5. The level of a ``QoSThread`` or of the main thread (rule T5).
    ///
    /// The levels of 1 and 2 are raised when work of a higher class waits for the calling task. `nil` (unspecified,
    /// rule C1) on a thread without a level.
    ///
    /// Any thread or task; some 30 ns.
    public static var currentLevel: QoSLevel? {
        var facts = SubmitterFacts()
        facts.task = LevelScope.callingClass
        if let standing = WorkScope.current?.standing { (facts.work, facts.workBegunAt) = standing }
        if facts.work == nil {
            facts.activity = LevelScope.currentlyGiven
            if facts.task == nil {
                facts.thread = ThreadLevel.current?.level
                facts.mainThread = MainThread.levelIfCurrent
            } else if facts.task == .default, MainThread.belongsToInteractive {
                facts.mainThread = MainThread.levelIfCurrent
            }
        }
        return LockRegistry.raised(facts.level)
    }

    /// The level with which the calling code waits for other work: its own, or that of the default class on a thread
    /// without a level (rule C1).
    package static var waitingLevel: QoSLevel { currentLevel ?? .default }
}
