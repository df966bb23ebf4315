public import QoSCore
import QoSRuntime

/// A piece of asynchronous work that runs once, in an operation queue, when what it depends on has finished.
///
/// ```swift
/// let page = QoSOperation { try await fetch(url) }
/// let words = QoSOperation { try await count(page.value) }
/// try words.depends(on: page)
/// try queue.add([page, words])
/// print(try await words.value)
/// ```
///
/// It has a level: the assigned one, or one inferred from where it was created and added (rule O1); waiting for it, and
/// what depends on it, raise it (rules O3–O9), whether it waits or runs.
///
/// Threading: any thread.
///
/// SAFETY: `body` and `result` belong to the runner from the start of the operation to its end. Before that they are
/// touched under the domain's lock, by whoever ends it; after it the result does not change, and is read by those who
/// have seen the end under the lock.
public final class QoSOperation<Value: Sendable>: AnyOperation, @unchecked Sendable {
    private enum Body: Sendable {
        case plain(@Sendable () async throws -> Value)
        case told(@Sendable (OperationContext) async throws -> Value)
    }

    private var body: Body?
    private var stored: Result<Value, any Error>?

    /// Makes an operation of a closure that is told its context.
    public init(_ options: OperationOptions, body: @escaping @Sendable (OperationContext) async throws -> Value) {
        self.body = .told(body)
        super.init(options)
    }

    /// Makes an operation of a closure that need not know its context.
    public init(_ options: OperationOptions, body: @escaping @Sendable () async throws -> Value) {
        self.body = .plain(body)
        super.init(options)
    }

    /// Makes an operation of a closure.
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

    /// Makes an operation of a value that knows the work.
    public convenience init(_ body: some OperationBody<Value>, options: OperationOptions? = nil) {
        self.init(options ?? body.options, body: { context in try await body.run(context) })
    }

    deinit {
        if body != nil { buryBody() }
    }

    /// The result, once the operation has ended; waits for that, and raises the operation to the caller's level (rule O9).
    ///
    /// - Throws: what the body threw; `CancellationError` for an operation that was cancelled before it ran;
    ///   ``OperationError/dependencyFailed(_:)``; as ``AnyOperation/finished()`` in an operation that this one waits for.
    public var value: Value {
        get async throws {
            try await finished()
            return try finishedResult.get()
        }
    }

    /// The result if the operation has ended; `nil` before.
    public var result: Result<Value, any Error>? {
        isFinished ? stored : nil
    }

    private var finishedResult: Result<Value, any Error> {
        stored ?? .failure(CancellationError())
    }

    /// The value of an operation that is known to have ended, because the caller depends on it.
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
        Graveyard.bury(&body)
    }
}
