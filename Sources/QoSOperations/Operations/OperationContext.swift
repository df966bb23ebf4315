/// What the body of an operation is told about it.
public struct OperationContext: Sendable {
    /// The operation that runs.
    public let operation: AnyOperation

    /// The operation's progress, to be reported to.
    public var progress: OperationProgress { operation.progress }

    /// Whether the operation was cancelled; the same as the task's.
    public var isCancelled: Bool { Task.isCancelled }

    /// Ends the body when the operation was cancelled.
    ///
    /// - Throws: `CancellationError`.
    public func checkCancellation() throws {
        try Task.checkCancellation()
    }
}
