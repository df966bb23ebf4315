public import QoSCore
import QoSRuntime

extension AnyOperation {
    /// How the operation ended; `nil` until it has.
    public var outcome: OperationOutcome? {
        OperationDomain.shared.look { _ in
            if case .finished(let outcome) = record.phase { return outcome }
            return nil
        }
    }

    /// Whether the operation has ended.
    public var isFinished: Bool { outcome != nil }

    /// Whether the operation has started and not ended.
    public var isRunning: Bool {
        OperationDomain.shared.look { state in record.id.map { state.graph.isRunning($0) } ?? false }
    }

    /// Makes this operation wait for another one, in whatever queue that is or will be; raises that one to this one's level
    /// (rule O5).
    ///
    /// The other one may have ended already: then there is nothing to wait for, and its failure counts as if it came now.
    ///
    /// - Throws: ``OperationError/dependencyCycle(_:)``; ``OperationError/dependencyAfterStart(_:)`` (rule O10).
    public func depends(on other: AnyOperation) throws(OperationError) {
        try OperationDomain.shared.addDependency(of: self, on: other)
    }

    /// Makes this operation wait for several others: as ``depends(on:)-(AnyOperation)`` for one after the other, up to the
    /// first that is refused.
    public func depends(on others: some Sequence<AnyOperation>) throws(OperationError) {
        for other in others { try depends(on: other) }
    }

    /// Cancels the operation (rule O11): before it has started it ends without running, in a queue or not; while it runs
    /// its task is cancelled, which its body can see. Without effect on one that has ended.
    public func cancel() {
        OperationDomain.shared.cancel(self)
    }

    /// Waits until the operation has ended, in whatever way, and raises it to the caller's level (rule O9).
    ///
    /// Cancelling the waiting task does not end the wait: cancel the operation.
    public func finished() async {
        await OperationDomain.shared.finished(self)
    }

    /// Blocks the calling thread until the operation has ended, in whatever way, and raises it to the thread's level
    /// (rule O9).
    ///
    /// Tasks wait by ``finished()`` or by a value: a blocked worker is missing in its pool.
    ///
    /// - Throws: ``OperationError/waitsForItself(_:)`` in the operation's own body.
    @available(*, noasync, message: "use finished() or value in a task")
    public func waitUntilFinished() throws(OperationError) {
        guard WorkScope.current !== self else { throw .waitsForItself(name) }
        OperationDomain.shared.blockUntilFinished(self)
    }
}
