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

    /// Whether nothing is missing for the operation to start but its turn in its queue.
    public var isReady: Bool {
        OperationDomain.shared.look { state in record.id.map { state.graph.isReady($0) } ?? false }
    }

    /// Whether the operation was cancelled before it ended; its body may have returned a value all the same.
    public var isCancelled: Bool { OperationDomain.shared.look { _ in record.isCancelled } }

    /// Whether the operation has started and not ended.
    public var isRunning: Bool {
        OperationDomain.shared.look { state in record.id.map { state.graph.isRunning($0) } ?? false }
    }

    /// Makes this operation wait for another one, in whatever queue that is or will be; raises that one to this one's level
    /// (rule O5).
    ///
    /// The other one may have ended already: then there is nothing to wait for, and its failure counts as if it came now.
    ///
    /// - Throws: ``OperationError/dependencyCycle(_:)``; ``OperationError/dependencyAfterStart(_:)`` (rule O10);
    ///   ``OperationError/deadlock(_:)`` where a barrier, or a wait in the body of an operation, closes the cycle.
    public func depends(on other: AnyOperation) throws(OperationError) {
        try OperationDomain.shared.addDependency(of: self, on: other)
    }

    /// Makes this operation wait for several others: as ``depends(on:)-(AnyOperation)`` for one after the other, up to the
    /// first that is refused.
    public func depends(on others: some Sequence<AnyOperation>) throws(OperationError) {
        for other in others { try depends(on: other) }
    }

    /// Makes this operation not wait for another one any more. The level to which that one was raised for its sake stays, as after
    /// any promotion (rule O5).
    ///
    /// Without effect if it does not depend on that one, or if that one has ended: then its outcome has counted.
    ///
    /// - Throws: ``OperationError/dependencyAfterStart(_:)`` (rule O10).
    public func removeDependency(_ other: AnyOperation) throws(OperationError) {
        try OperationDomain.shared.removeDependency(of: self, on: other)
    }

    /// What the operation depends on and has not ended, in the order in which that was said; without what is in no queue yet.
    public var unfinishedDependencies: [AnyOperation] { OperationDomain.shared.unfinishedDependencies(of: self) }

    /// Cancels the operation (rule O11): before it has started it ends without running, in a queue or not; while it runs
    /// its task is cancelled, which its body can see. Without effect on one that has ended.
    public func cancel() {
        OperationDomain.shared.cancel(self)
    }

    /// Waits until the operation has ended, in whatever way, and raises it to the caller's level (rule O9).
    ///
    /// Cancelling the waiting task does not end the wait: cancel the operation.
    ///
    /// - Parameter promotes: `false` for a wait that only watches, and raises nothing.
    /// - Throws: ``OperationError/waitsForItself(_:)``, ``OperationError/deadlock(_:)`` where the caller is an operation that
    ///   this one waits for, directly or through others: by dependencies, their own waits, barriers, or a place in a queue
    ///   all of whose places are taken by operations that wait. A child task of an operation (`async let`, a group) counts as the
    ///   operation; other tasks that it has started do not.
    public func finished(promotes: Bool = true) async throws(OperationError) {
        try await OperationDomain.shared.finished(.operation(self), promotes: promotes)
    }

    /// Blocks the calling thread until the operation has ended, in whatever way, and raises it to the thread's level
    /// (rule O9).
    ///
    /// Tasks wait by ``finished()`` or by a value: a blocked worker is missing in its pool.
    ///
    /// - Throws: as ``finished()``.
    @available(*, noasync, message: "use finished() or value in a task")
    public func waitUntilFinished() throws(OperationError) {
        try OperationDomain.shared.blockUntilFinished(.operation(self))
    }
}
