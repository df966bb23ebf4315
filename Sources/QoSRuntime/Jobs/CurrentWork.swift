package import QoSCore

/// What the calling code runs in the execution of: a work item, an operation, a thread with a level.
///
/// It answers for the level that code submits with (rules B6, O1, O8): the level is asked for at each submission, so that a
/// promotion of running work holds for everything that the work submits from then on.
///
/// Threading: `effectiveLevel` is read by any thread.
package protocol CurrentWork: AnyObject, Sendable {
    /// What the work runs at, promotions included; `nil` for work that has no level.
    var effectiveLevel: QoSLevel? { get }

    /// The level, and the class with which a task was made to run the work; `nil` for work that no task was made for.
    var standing: (level: QoSLevel?, begunAt: QoSClass?) { get }
}

extension CurrentWork {
    package var standing: (level: QoSLevel?, begunAt: QoSClass?) { (effectiveLevel, nil) }
}
