public import QoSCore
import QoSRuntime

extension BaseOperation {
    /// The outcome of the operation; `nil` before its end.
    public var outcome: OperationOutcome? {
        OperationEngine.shared.look { _ in
            if case .finished(let outcome) = record.phase { return outcome }
            return nil
        }
    }

    /// Whether the operation has ended.
    public var isFinished: Bool { outcome != nil }

    /// Whether the operation waits only for its turn in its queue.
    public var isReady: Bool {
        OperationEngine.shared.look { state in record.id.map { state.graph.isReady($0) } ?? false }
    }

    /// Whether the operation was cancelled before it ended. Its body may still have returned a value.
    public var isCancelled: Bool { OperationEngine.shared.look { _ in record.isCancelled } }

    /// Whether the operation has started and not ended.
    public var isRunning: Bool {
        OperationEngine.shared.look { state in record.id.map { state.graph.isRunning($0) } ?? false }
    }

    /// Adds a dependency: this operation waits for another one, in any queue. The other one is raised to this one's
    /// level (rule O5).
    ///
    /// The other one may have ended already. Then there is no wait, and its failure counts as if it came now.
    ///
    /// - Throws: ``OperationError/dependencyCycle(_:)``; ``OperationError/dependencyAfterStart(_:)`` (rule O10);
    ///   ``OperationError/deadlock(_:)`` if a barrier, or a wait in the body of an operation, closes the cycle.
    public func addDependency(_ other: BaseOperation) throws(OperationError) {
        try OperationEngine.shared.addDependency(of: self, on: other)
    }

    /// Adds dependencies on several others, one after the other, up to the first refused one.
    ///
    /// See ``addDependency(_:)``.
    public func addDependencies(_ others: some Sequence<BaseOperation>) throws(OperationError) {
        for other in others { try addDependency(other) }
    }

    /// Removes a dependency on another operation. The other one keeps its level, as after any promotion (rule O5).
    ///
    /// It has no effect without such a dependency, or if the other one has ended: then its outcome has counted.
    ///
    /// - Throws: ``OperationError/dependencyAfterStart(_:)`` (rule O10).
    public func removeDependency(_ other: BaseOperation) throws(OperationError) {
        try OperationEngine.shared.removeDependency(of: self, on: other)
    }

    /// The unfinished dependencies that are in a queue, in the order of ``addDependency(_:)``.
    public var unfinishedDependencies: [BaseOperation] { OperationEngine.shared.unfinishedDependencies(of: self) }

    /// Cancels the operation (rule O11). Before its start it ends without running, in a queue or not. While it runs,
    /// its task is cancelled, and its body can see that. It has no effect after the end.
    public func cancel() {
        OperationEngine.shared.cancel(self)
    }

    /// Suspends the task until the operation has ended, whatever the outcome. It raises the operation to the task's
    /// level (rule O9).
    ///
    /// Cancelling the waiting task does not end the wait: cancel the operation.
    ///
    /// - Parameter promotes: `false` for a wait that only watches and raises nothing.
    /// - Throws: ``OperationError/waitsForItself(_:)``. ``OperationError/deadlock(_:)`` if the caller is an operation
    ///   that this one waits for, directly or through others. Such a wait may be a dependency, a wait in a body, or a
    ///   barrier. It may also be a wait for a place in a queue whose places are all taken by waiting operations. A
    ///   child task of an operation (`async let`, a group) counts as the operation. Its other tasks do not.
    public func waitUntilFinished(promotes: Bool = true) async throws(OperationError) {
        try await OperationEngine.shared.waitUntilFinished(.operation(self), promotes: promotes)
    }

    /// Blocks the calling thread until the operation has ended, whatever the outcome. It raises the operation to the
    /// thread's level (rule O9).
    ///
    /// Tasks use ``waitUntilFinished(promotes:)`` or a value instead: a blocked worker is missing in its pool.
    ///
    /// - Throws: as ``waitUntilFinished(promotes:)``.
    @available(*, noasync, message: "use waitUntilFinished() or value in a task")
    public func blockUntilFinished() throws(OperationError) {
        try OperationEngine.shared.blockUntilFinished(.operation(self))
    }
}

extension BaseOperation {
    /// The level that the operation was created with, or the one that was set last; `nil` if it infers its level (rule
    /// O1).
    ///
    /// - A level above the effective one raises its dependents, the operations before it in its queue, and their
    ///   dependencies (rule O6).
    /// - A lower level changes this operation alone (rule O7).
    /// - `nil` takes back an assigned level. The level then comes from ``kind``, or is inferred (rules O1, O12): in a
    ///   queue at once, else when the operation is added. The operation rises or falls to that level.
    ///
    /// An operation that has ended keeps its level.
    public var level: QoSLevel? {
        get { OperationEngine.shared.look { _ in record.requested } }
        set { OperationEngine.shared.setLevel(newValue, of: self) }
    }
}
