public import QoSCore
import QoSRuntime

// SAFETY: `body` and `stored` belong to the runner from the start of the operation to its end. Before that, the thread
// that ends the operation touches them under the engine's lock. Afterwards `stored` does not change, and its readers
// have seen the end under the lock.
/// A piece of asynchronous work that runs once, in an operation queue, after its dependencies.
///
/// ```swift
/// let page = QoSOperation { try await fetch(url) }
/// let words = QoSOperation { try await count(page.value) }
/// try words.addDependency(page)
/// try queue.add([page, words])
/// print(try await words.value)
/// ```
///
/// Its level is the assigned one, or is inferred from the places of its creation and addition (rule O1). Its waiters
/// and dependents raise it (rules O3–O9), both queued and running.
///
/// Its body has the service context and the activity of the code that made it (rule X2), and no other task-local value:
/// read one before, and bind it in the body.
///
/// Threading: any thread.
public final class QoSOperation<Value: Sendable>: BaseOperation, @unchecked Sendable {
    private enum Body: Sendable {
        case plain(@Sendable () async throws -> Value)
        case told(@Sendable (OperationContext) async throws -> Value)
    }

    private var body: Body?
    private var stored: Result<Value, any Error>?

    /// Makes an operation from a closure with a context.
    public init(_ options: OperationOptions, body: @escaping @Sendable (OperationContext) async throws -> Value) {
        self.body = .told(body)
        super.init(options)
    }

    /// Makes an operation from a closure without a context.
    public init(_ options: OperationOptions, body: @escaping @Sendable () async throws -> Value) {
        self.body = .plain(body)
        super.init(options)
    }

    /// Makes an operation from a closure.
    ///
    /// - Parameters:
    ///   - name: for errors, logs and lists.
    ///   - level: `nil` to infer it (rule O1).
    ///   - body: the work.
    public convenience init(
        name: String? = nil, level: QoSLevel? = nil, _ body: @escaping @Sendable () async throws -> Value
    ) {
        self.init(OperationOptions(name: name, level: level), body: body)
    }

    /// Makes an operation from a value of a type of operations.
    public convenience init(_ body: some OperationBody<Value>, options: OperationOptions? = nil) {
        self.init(options ?? body.options, body: { context in try await body.run(context) })
    }

    deinit {
        if body != nil { buryBody() }
    }

    /// The result of the operation. It waits for the end, and raises the operation to the caller's level (rule O9).
    ///
    /// - Throws: the body's error; `CancellationError` for an operation that was cancelled before it ran;
    ///   ``OperationError/dependencyFailed(_:)``; the errors of ``BaseOperation/waitUntilFinished(promotes:)`` in an
    ///   operation that this one waits for.
    public var value: Value {
        get async throws {
            try await waitUntilFinished()
            return try finishedResult.get()
        }
    }

    /// The result; `nil` before the operation's end.
    public var result: Result<Value, any Error>? {
        isFinished ? stored : nil
    }

    private var finishedResult: Result<Value, any Error> {
        stored ?? .failure(CancellationError())
    }

    /// The value of an operation that has ended, because the caller depends on it.
    ///
    /// - Throws: as ``value``, for a caller that runs although this one failed.
    func finishedValue() throws -> Value {
        try finishedResult.get()
    }

    override func checkResult() throws {
        if case .failure(let error) = result { throw error }
    }

    override func runBody() async -> (any Error)? {
        guard let body else { return nil }
        defer { self.body = nil }
        do {
            switch body {
            case .plain(let body): stored = .success(try await body())
            case .told(let body): stored = .success(try await body(OperationContext(operation: self)))
            }
            return nil
        } catch {
            stored = .failure(error)
            return error
        }
    }

    override func keep(_ error: any Error) {
        stored = .failure(error)
    }

    override func buryBody() {
        IterativeRelease.bury(&body)
    }
}
