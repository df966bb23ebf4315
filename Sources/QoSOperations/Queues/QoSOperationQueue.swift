public import QoSCore
public import QoSRuntime

/// Runs operations on a scheduler, each in the pool of its class, by level and in the order in which they were added.
///
/// ```swift
/// let queue = QoSOperationQueue("thumbnails", scheduler: scheduler, level: .utility)
/// let thumbnail = queue.addOperation { try await render(image) }
/// show(try await thumbnail.value)
/// ```
///
/// A queue with a level gives it to operations that have none and promotes those that are lower; an operation of a higher
/// level promotes the queue and everything in it (rules Q2–Q5). A queue without one leaves each operation its own (rule Q1).
///
/// The queue may be released with work in it: what was added runs, also if the queue is suspended.
///
/// Threading: any thread.
public final class QoSOperationQueue: Sendable {
    /// The name for errors, logs and lists.
    public let name: String
    /// Where the operations run.
    public let scheduler: QoSScheduler
    let id: OperationQueueID

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - name: for errors, logs and lists.
    ///   - scheduler: where the operations run.
    ///   - level: `nil` for a queue that leaves operations their own (rule Q1).
    ///   - maxConcurrent: how many operations may run at the same time.
    ///   - promotion: how long a promotion by an operation lasts (rule Q5).
    ///   - isSuspended: whether it starts nothing until it is resumed.
    public init(
        _ name: String = "operations", scheduler: QoSScheduler, level: QoSLevel? = nil,
        maxConcurrent: ConcurrencyLimit = .automatic, promotion: QueuePromotionLifetime = .untilSet,
        isSuspended: Bool = false
    ) {
        self.name = name
        self.scheduler = scheduler
        id = OperationDomain.shared.look { state in
            let id = state.graph.queueCreated(
                level: level, limit: maxConcurrent.count, lifetime: promotion, isSuspended: isSuspended)
            state.add(DomainQueue(scheduler: scheduler), as: id)
            return id
        }
    }

    deinit {
        OperationDomain.shared.change { [id] state, actions in
            if state.graph.queueReleased(id, &state.effects) { state.remove(id, &actions) }
        }
    }

    // MARK: Adding

    /// Adds an operation, which starts as soon as nothing it depends on, no barrier and no limit keeps it.
    ///
    /// - Throws: ``OperationError/addedTwice(_:)``; ``OperationError/deadlock(_:)`` for one that would stand behind a barrier
    ///   which waits for it, directly or through others, or that would close another circle of operations.
    public func add(_ operation: AnyOperation) throws(OperationError) {
        try OperationDomain.shared.add(CollectionOfOne(operation), to: id)
    }

    /// Adds operations, all of them or none; cheaper than one by one.
    ///
    /// A long list without barriers comes in pieces, so that others are not kept waiting: the first of it may run before the last is
    /// in the queue.
    ///
    /// - Throws: ``OperationError/addedTwice(_:)`` if one of them is in a queue, or twice in the list;
    ///   ``OperationError/deadlock(_:)`` as for one alone.
    public func add(_ operations: [AnyOperation]) throws(OperationError) {
        try OperationDomain.shared.add(operations, to: id)
    }

    /// Makes an operation of a closure and adds it.
    @discardableResult
    public func addOperation<Value: Sendable>(
        name: String? = nil, level: QoSLevel? = nil, _ body: @escaping @Sendable () async throws -> Value
    ) -> QoSOperation<Value> {
        adding(QoSOperation(name: name, level: level, body))
    }

    /// Makes an operation of a closure that is told its context, and adds it.
    @discardableResult
    public func addOperation<Value: Sendable>(
        _ options: OperationOptions, _ body: @escaping @Sendable (OperationContext) async throws -> Value
    ) -> QoSOperation<Value> {
        adding(QoSOperation(options, body: body))
    }

    /// Makes an operation of a closure that need not know its context, and adds it.
    @discardableResult
    public func addOperation<Value: Sendable>(
        _ options: OperationOptions, _ body: @escaping @Sendable () async throws -> Value
    ) -> QoSOperation<Value> {
        adding(QoSOperation(options, body: body))
    }

    /// Adds an operation that runs alone: after everything that was added before it, before everything added after it.
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
