import CQoSShims
public import QoSCore
import _Concurrency

/// What the calling code can ask about its own quality of service.
public enum QoS {
    /// The level at which the calling code runs, and with which it submits work that names none (rules B6, O1, S8).
    ///
    /// That of the work item or operation in whose execution it stands; else that of the innermost activity or
    /// ``QoSScheduler/withQoS(_:operation:)`` around it; all raised when something of a higher class waits for the calling task. Else
    /// the class of the executor that the task was given to, unless it was raised above that; for a task without one, the class of its
    /// priority. Else the level of a ``QoSThread`` or of the main thread (rule T5). `nil` (unspecified, rule C1) on a thread without a level.
    ///
    /// Any thread or task; some 30 ns.
    public static var currentLevel: QoSLevel? {
        var facts = SubmitterFacts()
        facts.task = LevelScope.callingClass
        if let standing = WorkScope.current?.standing { (facts.work, facts.workBegunAt) = standing }
        if facts.work == nil {
            facts.activity = LevelScope.current?.given
            if facts.task == nil {
                facts.thread = ThreadLevel.current?.level
                facts.mainThread = MainThread.levelIfCurrent
            } else if facts.task == .default, MainThread.belongsToInteractive {
                facts.mainThread = MainThread.levelIfCurrent
            }
        }
        return LockRegistry.raised(facts.level)
    }
}
