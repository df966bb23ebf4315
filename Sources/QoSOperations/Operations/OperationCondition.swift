/// Something that has to be so before an operation is ready, beside the end of what it depends on: a network that can be
/// reached, a file that exists, a permission.
///
/// Asked when all dependencies have finished, in a task of the operation's level, one condition after the other. The operation
/// takes no place in its queue's limit meanwhile.
public struct OperationCondition: Sendable {
    /// Says what the condition is, for logs and lists.
    public let name: String

    private let check: @Sendable () async throws -> Void

    /// Makes a condition.
    ///
    /// - Parameters:
    ///   - name: what it is.
    ///   - check: returns when the condition is met, after however long a wait; throws when it will not be, which ends the
    ///     operation with that error. It is cancelled with the operation.
    public init(_ name: String, check: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.check = check
    }

    func met() async throws {
        try await check()
    }
}
