public import QoSCore
public import QoSRuntime

// SAFETY: `init` sets the constants, which never change; `record` and `conditions` are read and written under the lock
// of the operations' engine, or by `deinit`.
/// The base class of all operations, whatever their results: see ``QoSOperation``.
///
/// Threading: any thread.
public class BaseOperation: CurrentWork, @unchecked Sendable {
    let givenName: String?
    /// The kind of the operation's work (rule O12).
    public let kind: OperationKind
    let policy: FailedDependencyPolicy
    let isBarrier: Bool
    /// Whether the operation is to be asked for conditions before it starts.
    let hasConditions: Bool
    /// The conditions, until they are asked or the operation ends without them.
    private var conditions: [OperationCondition]
    /// Whether the operation waits while the governor forbids discretionary work and no user waits for it (rule O12).
    public let isDiscretionary: Bool
    var record: EngineRecord

    /// The service context and the activity of the code that made the operation. Its body has them (rules X1, X2).
    let context: CarriedContext?

    init(_ options: OperationOptions) {
        givenName = options.name
        kind = options.kind
        policy = options.onFailedDependency
        isBarrier = options.isBarrier
        conditions = options.conditions
        isDiscretionary = options.isDiscretionary ?? options.kind.isDiscretionary(isInForegroundUse: false)
        hasConditions = isDiscretionary || !options.conditions.isEmpty
        context = .captured()
        record = EngineRecord(requested: options.level ?? options.kind.level, origin: .current())
    }

    deinit {
        OperationEngine.shared.operationReleased(record)
        IterativeRelease.bury(&conditions)
        if let watchers = record.watchers { IterativeRelease.bury(&watchers.completions) }
    }

    /// The name for errors, logs and lists.
    public var name: String { givenName ?? "operation" }

    /// The level at which the operation waits, runs or ran, promotions included; `nil` before it has one.
    public var effectiveLevel: QoSLevel? { OperationEngine.shared.level(of: self) }

    package var standing: (level: QoSLevel?, begunAt: QoSClass?) {
        OperationEngine.shared.look { ($0.level(of: self), record.runner?.taskClass) }
    }

    // MARK: What an operation with a result adds

    /// Runs a body in the context of the code that made the operation (rules X1, X2). It serves the operation's body,
    /// its conditions, and its completion closures.
    func inContext<Success>(_ body: nonisolated(nonsending) () async -> Success) async -> Success {
        guard let context else { return await body() }
        return await context.run(body)
    }

    /// Asks the conditions, one after the other, and waits for the permission of discretionary work.
    ///
    /// - Returns: the first error; `nil` when all are met.
    func askConditions(on scheduler: QoSScheduler) async -> (any Error)? {
        var asked = takeConditions()
        defer { IterativeRelease.bury(&asked) }
        do {
            for condition in asked { try await condition.met() }
            if isDiscretionary { try await scheduler.waitUntil { self.deferralReason(under: $0) == nil } }
            return nil
        } catch {
            return error
        }
    }

    /// Releases the body and the conditions of an operation that ended without running.
    func bury() {
        buryBody()
        guard hasConditions else { return }
        var taken = takeConditions()
        IterativeRelease.bury(&taken)
    }

    /// Takes the conditions, for the one that asks or releases them. An operation that is cancelled while they come to
    /// be asked has two of these.
    private func takeConditions() -> [OperationCondition] {
        OperationEngine.shared.look { _ in
            let taken = conditions
            conditions = []
            return taken
        }
    }

    /// Runs the body and keeps its result.
    ///
    /// - Returns: the body's error; `nil` when it returned.
    func runBody() async -> (any Error)? {
        preconditionFailure("only QoSOperation has a body")
    }

    /// Keeps an error as the result of an operation whose body did not run.
    func keep(_ error: any Error) {
        preconditionFailure("only QoSOperation has a result")
    }

    /// Throws the operation's error, if it ended with one.
    func checkResult() throws {
        preconditionFailure("only QoSOperation has a result")
    }

    /// Releases the body of an operation that did not run.
    func buryBody() {
        preconditionFailure("only QoSOperation has a body")
    }
}

extension OperationOrigin {
    /// The origin of an operation that the calling code creates (rules O1, O2).
    static func current() -> OperationOrigin {
        let operation = WorkScope.current as? BaseOperation
        return OperationOrigin(
            operation: operation?.effectiveLevel, activity: QoS.levelOfScope, creator: QoS.currentLevel,
            isInteractiveMain: QoSProcess.isInteractiveMain)
    }
}
