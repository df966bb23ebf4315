public import QoSCore
import _Concurrency

/// What the calling code can ask about its own quality of service.
public enum QoS {
    /// The level at which the calling code runs, and with which it submits work that names none (rules B6, O1).
    ///
    /// That of the work item, operation or thread in whose execution it stands, raised to the class of the calling task's
    /// priority when that is higher (something of a higher class waits for the task); without either, the class of the
    /// task's priority. `nil` (unspecified, rule C1) on a thread without a level.
    ///
    /// Any thread or task; some 20 ns.
    public static var currentLevel: QoSLevel? {
        let ofTask = unsafe withUnsafeCurrentTask { task in
            unsafe task.flatMap { unsafe QoSClass(rawPriority: $0.priority.rawValue) }
        }
        guard let level = WorkScope.current?.effectiveLevel else { return ofTask.map { QoSLevel($0) } }
        guard let ofTask, ofTask > level.qosClass else { return level }
        return QoSLevel(ofTask)
    }
}
