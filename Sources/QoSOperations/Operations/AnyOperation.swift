public import QoSCore
public import QoSRuntime

/// What all operations have in common, whatever their results: see ``QoSOperation``.
///
/// Threading: any thread.
///
/// SAFETY: what `init` sets once never changes; `record` is read and written under the lock of the operations' domain.
public class AnyOperation: CurrentWork, @unchecked Sendable {
    let givenName: String?
    /// What the operation works with (rule O12).
    public let kind: OperationKind
    let policy: FailedDependencyPolicy
    let isBarrier: Bool
    let conditions: [OperationCondition]
    var record: DomainRecord

    /// The service context and the activity of the code that made the operation: its body has them (rules X1, X2).
    let context: CarriedContext?

    init(_ options: OperationOptions) {
        givenName = options.name
        kind = options.kind
        policy = options.onFailedDependency
        isBarrier = options.isBarrier
        conditions = options.conditions
        context = .captured()
        record = DomainRecord(requested: options.level ?? options.kind.level, origin: .current())
    }

    deinit {
        OperationDomain.shared.operationReleased(record)
    }

    /// The name for errors, logs and lists.
    public var name: String { givenName ?? "operation" }

    // MARK: What an operation with a result adds

    /// Runs something in the context of the code that made the operation (rules X1, X2): its body, its conditions, what is called
    /// at its end.
    func inContext<Success>(_ body: nonisolated(nonsending) () async -> Success) async -> Success {
        guard let context else { return await body() }
        return await context.run(body)
    }

    /// Asks the conditions, one after the other.
    ///
    /// - Returns: what one of them threw; `nil` when they are met.
    func askConditions() async -> (any Error)? {
        do {
            for condition in conditions { try await condition.met() }
            return nil
        } catch {
            return error
        }
    }

    /// Runs the body and keeps its result.
    ///
    /// - Returns: what it threw; `nil` when it returned.
    func runBody() async -> (any Error)? {
        preconditionFailure("only QoSOperation has a body")
    }

    /// Keeps an error as the result of an operation whose body did not run.
    func keep(_ error: any Error) {
        preconditionFailure("only QoSOperation has a result")
    }

    /// Throws what the operation ended with, if that is an error.
    func checkResult() throws {
        preconditionFailure("only QoSOperation has a result")
    }

    /// Releases the body of an operation that did not run.
    func buryBody() {
        preconditionFailure("only QoSOperation has a body")
    }
}
