package import QoSCore

/// The work that the calling code belongs to: a work item, an operation, a thread with a level.
///
/// It gives the level at which that code submits (rules B6, O1, O8). Each submission asks for the level anew. So a
/// promotion of running work holds for everything that the work submits from then on.
///
/// Threading: any thread reads `effectiveLevel`.
package protocol CurrentWork: AnyObject, Sendable {
    /// The level at which the work runs, promotions included; `nil` for work without a level.
    var effectiveLevel: QoSLevel? { get }

    /// The level, and the class with which a task was made to run the work; `nil` for work without such a task.
    var standing: (level: QoSLevel?, begunAt: QoSClass?) { get }
}

extension CurrentWork {
    package var standing: (level: QoSLevel?, begunAt: QoSClass?) { (effectiveLevel, nil) }
}
