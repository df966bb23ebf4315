extension QoSOperationQueue {
    /// Builds a graph, runs it in this queue, and returns a result when all of the graph has ended. The result is that
    /// of the operation that the body returned.
    ///
    /// Cancelling the calling task cancels every operation of the graph. The operations are raised to the caller's
    /// level (rule O9).
    ///
    /// - Throws: the body's error, and then no operation has run; the error of the returned operation;
    ///   ``OperationError/addedTwice(_:)``; ``OperationError/deadlock(_:)`` in an operation that the graph waits for,
    ///   or if operations of the graph would wait for one another, and then the graph is cancelled.
    public func run<Value: Sendable>(
        _ build: (OperationGroup) throws -> QoSOperation<Value>
    ) async throws -> Value {
        let group = OperationGroup()
        let last = try build(group)
        let operations = group.operations
        return try await withTaskCancellationHandler {
            try await runToEnd(operations)
            return try await last.value
        } onCancel: {
            OperationEngine.shared.cancel(all: operations)
        }
    }

    /// Builds and runs a graph without a result of its own. It throws the graph's first failure, in the order of
    /// building.
    ///
    /// See ``run(_:)``.
    public func runAll(_ build: (OperationGroup) throws -> Void) async throws {
        let group = OperationGroup()
        try build(group)
        let operations = group.operations
        try await withTaskCancellationHandler {
            try await runToEnd(operations)
        } onCancel: {
            OperationEngine.shared.cancel(all: operations)
        }
        for operation in operations { try operation.checkResult() }
    }

    private func runToEnd(_ operations: [BaseOperation]) async throws(OperationError) {
        do throws(OperationError) {
            try add(operations)
            try await OperationEngine.shared.waitUntilFinished(all: operations)
        } catch {
            // One that somebody else has added is not the graph's to cancel.
            if case .addedTwice = error { throw error }
            OperationEngine.shared.cancel(all: operations)
            throw error
        }
    }
}
