/// A builder for a graph of operations whose results flow from one to the next, for ``QoSOperationQueue/run(_:)``.
///
/// ```swift
/// let total = try await queue.run { group in
///     let pages = group.fanOut(urls) { url in try await fetch(url) }
///     let counts = pages.map { page in group.then(page) { text in words(in: text) } }
///     return group.fanIn(counts) { $0.reduce(0, +) }
/// }
/// ```
///
/// An operation of the group depends on the operations that it is given. So a group cannot contain a cycle.
///
/// Threading: only the thread that runs the building body.
public final class OperationGroup {
    private(set) var operations: [BaseOperation] = []

    init() {}

    /// Adds an operation that was made elsewhere.
    @discardableResult
    public func add<Operation: BaseOperation>(_ operation: Operation) -> Operation {
        operations.append(operation)
        return operation
    }

    /// Adds an operation that depends on others, and does not use their results.
    @discardableResult
    public func add<Value: Sendable>(
        _ options: OperationOptions = OperationOptions(), after others: [BaseOperation] = [],
        _ body: @escaping @Sendable () async throws -> Value
    ) -> QoSOperation<Value> {
        adding(QoSOperation(options, body: body), after: others)
    }

    /// Adds an operation that uses the result of another.
    @discardableResult
    public func then<Input: Sendable, Value: Sendable>(
        _ input: QoSOperation<Input>, _ options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (Input) async throws -> Value
    ) -> QoSOperation<Value> {
        adding(QoSOperation(options, body: { try await body(input.finishedValue()) }), after: [input])
    }

    /// Adds an operation that uses the results of two others.
    @discardableResult
    public func combine<First: Sendable, Second: Sendable, Value: Sendable>(
        _ first: QoSOperation<First>, _ second: QoSOperation<Second>, _ options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (First, Second) async throws -> Value
    ) -> QoSOperation<Value> {
        adding(
            QoSOperation(options, body: { try await body(first.finishedValue(), second.finishedValue()) }),
            after: [first, second])
    }

    /// Adds one operation for each element, independent of one another.
    public func fanOut<Element: Sendable, Value: Sendable>(
        _ elements: some Sequence<Element>, _ options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (Element) async throws -> Value
    ) -> [QoSOperation<Value>] {
        elements.map { element in adding(QoSOperation(options, body: { try await body(element) }), after: []) }
    }

    /// Adds an operation that uses the results of others of one kind, in their order.
    @discardableResult
    public func fanIn<Input: Sendable, Value: Sendable>(
        _ inputs: [QoSOperation<Input>], _ options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable ([Input]) async throws -> Value
    ) -> QoSOperation<Value> {
        adding(QoSOperation(options, body: { try await body(inputs.map { try $0.finishedValue() }) }), after: inputs)
    }

    /// Adds one operation for each element, each with the result of the one before.
    ///
    /// - Returns: the last operation. Without elements, an operation that returns the initial value.
    @discardableResult
    public func chain<Element: Sendable, Value: Sendable>(
        _ initial: Value, _ elements: some Sequence<Element>, _ options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (Value, Element) async throws -> Value
    ) -> QoSOperation<Value> {
        var last: QoSOperation<Value>?
        for element in elements {
            if let previous = last {
                last = then(previous, options) { value in try await body(value, element) }
            } else {
                last = add(options) { try await body(initial, element) }
            }
        }
        return last ?? add(options) { initial }
    }

    private func adding<Value>(_ operation: QoSOperation<Value>, after others: [BaseOperation]) -> QoSOperation<Value> {
        operations.append(operation)
        do {
            try operation.addDependencies(others)
        } catch {
            assertionFailure("\(error), though nothing depends on a new operation")
        }
        return operation
    }
}
