public import QoSCore
public import QoSRuntime

/// A queue that runs operations on a scheduler, each in the pool of its class, by level and in the order of adding.
///
/// ```swift
/// let queue = QoSOperationQueue("thumbnails", scheduler: scheduler, level: .utility)
/// let thumbnail = queue.addOperation { try await render(image) }
/// show(try await thumbnail.value)
/// ```
///
/// A queue with a level gives it to operations without one, and promotes lower operations. An operation of a higher
/// level promotes the queue and all of its operations (rules Q2–Q5). In a queue without a level, each operation keeps
/// its own (rule Q1).
///
/// The queue may be released with operations in it. They run, also if the queue is suspended.
///
/// Threading: any thread.
public final class QoSOperationQueue: Sendable {
    /// The name for errors, logs and lists.
    public let name: String
    /// The scheduler that runs the operations.
    public let scheduler: QoSScheduler
    let id: OperationQueueID

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - name: for errors, logs and lists.
    ///   - scheduler: runs the operations.
    ///   - level: `nil` for a queue in which operations keep their own (rule Q1).
    ///   - maxConcurrent: the number of operations that may run at the same time.
    ///   - promotion: the duration of a promotion by an operation (rule Q5).
    ///   - isSuspended: whether the queue starts no operation until it is resumed.
    public init(
        _ name: String = "operations", scheduler: QoSScheduler, level: QoSLevel? = nil,
        maxConcurrent: ConcurrencyLimit = .automatic, promotion: QueuePromotionLifetime = .untilSet,
        isSuspended: Bool = false
    ) {
        self.name = name
        self.scheduler = scheduler
        id = OperationEngine.shared.look { state in
            let id = state.graph.queueCreated(
                level: level, limit: maxConcurrent.count, lifetime: promotion, isSuspended: isSuspended)
            state.add(EngineQueue(scheduler: scheduler), as: id)
            return id
        }
    }

    deinit {
        OperationEngine.shared.change { [id] state, actions in
            if state.graph.queueReleased(id, &state.effects) { state.remove(id, &actions) }
        }
    }

    // MARK: Adding

    /// Adds an operation. It starts when no dependency, barrier or limit keeps it back.
    ///
    /// - Throws: ``OperationError/addedTwice(_:)``. ``OperationError/deadlock(_:)`` for an operation that
    ///   would close a circle, such as one behind a barrier that waits for the operation.
    public func add(_ operation: BaseOperation) throws(OperationError) {
        try OperationEngine.shared.add(CollectionOfOne(operation), to: id)
    }

    /// Adds operations, all of them or none. This is cheaper than one by one.
    ///
    /// A list of more than 64 operations without barriers is added in pieces, so that other threads need not wait. Its
    /// first operations may run before the last one is in the queue. A wait or a dependency that comes meanwhile may
    /// close a circle with a later piece. The call then throws, and the operations from that piece on are not added.
    ///
    /// - Throws: ``OperationError/addedTwice(_:)`` if one of them is in a queue, or twice in the list;
    ///   ``OperationError/deadlock(_:)`` as for a single operation.
    public func add(_ operations: [BaseOperation]) throws(OperationError) {
        try OperationEngine.shared.add(operations, to: id)
    }

    /// Makes an operation from a closure and adds it.
    @discardableResult
    public func addOperation<Value: Sendable>(
        name: String? = nil, level: QoSLevel? = nil, _ body: @escaping @Sendable () async throws -> Value
    ) -> QoSOperation<Value> {
        adding(QoSOperation(name: name, level: level, body))
    }

    /// Makes an operation from a closure with a context, and adds it.
    @discardableResult
    public func addOperation<Value: Sendable>(
        _ options: OperationOptions, _ body: @escaping @Sendable (OperationContext) async throws -> Value
    ) -> QoSOperation<Value> {
        adding(QoSOperation(options, body: body))
    }

    /// Makes an operation from a closure without a context, and adds it.
    @discardableResult
    public func addOperation<Value: Sendable>(
        _ options: OperationOptions, _ body: @escaping @Sendable () async throws -> Value
    ) -> QoSOperation<Value> {
        adding(QoSOperation(options, body: body))
    }

    /// Adds an operation that runs alone: after everything added before, before everything added after.
    @discardableResult
    public func addBarrier<Value: Sendable>(
        name: String? = nil, level: QoSLevel? = nil, _ body: @escaping @Sendable () async throws -> Value
    ) -> QoSOperation<Value> {
        adding(QoSOperation(OperationOptions(name: name, level: level, isBarrier: true), body: body))
    }

    private func adding<Value>(_ operation: QoSOperation<Value>) -> QoSOperation<Value> {
        do {
            try add(operation)
        } catch {
            assertionFailure("\(error), though it is new")
        }
        return operation
    }
}
