/// A condition that delays an operation after its dependencies: a reachable network, an existing file, a permission.
///
/// Conditions are asked when all dependencies have finished, in a task of the operation's level, one after the other.
/// Meanwhile the operation takes no place in its queue's limit.
public struct OperationCondition: Sendable {
    /// The condition's name for logs and lists.
    public let name: String

    private let check: @Sendable () async throws -> Void

    /// Makes a condition.
    ///
    /// - Parameters:
    ///   - name: the name for logs and lists.
    ///   - check: returns when the condition is met, after any wait. If it throws, the operation ends with that error.
    ///     It is cancelled with the operation.
    public init(_ name: String, check: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.check = check
    }

    func met() async throws {
        try await check()
    }
}
