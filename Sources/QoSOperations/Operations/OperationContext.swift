/// The operation's view of itself, given to its body.
public struct OperationContext: Sendable {
    /// The operation that runs.
    public let operation: BaseOperation

    /// The operation's progress, for reports.
    public var progress: OperationProgress { operation.progress }

    /// Whether the operation was cancelled; the same as the task's.
    public var isCancelled: Bool { Task.isCancelled }

    /// Ends the body if the operation was cancelled.
    ///
    /// - Throws: `CancellationError`.
    public func checkCancellation() throws {
        try Task.checkCancellation()
    }
}
