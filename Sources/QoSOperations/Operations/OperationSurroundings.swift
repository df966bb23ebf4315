package import QoSCore

/// What surrounds the code that creates operations, beside the operation, task or thread that runs it.
package struct OperationSurroundings: Sendable {
    /// The level of the activity in whose scope it stands (rule O1).
    package var activityLevel: QoSLevel?

    /// Whether it is the main thread of an interactive process (rule O2).
    package var isInteractiveMain = false

    /// What surrounds the calling code.
    @TaskLocal package static var current = OperationSurroundings()

    /// Surroundings.
    package init(activityLevel: QoSLevel? = nil, isInteractiveMain: Bool = false) {
        self.activityLevel = activityLevel
        self.isInteractiveMain = isInteractiveMain
    }
}
