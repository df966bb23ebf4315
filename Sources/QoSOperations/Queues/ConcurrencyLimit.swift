/// The number of operations of a queue that may run at the same time.
public struct ConcurrencyLimit: Sendable, Hashable {
    /// The number.
    public let count: Int

    /// 64 operations: more than the processors, for operations that wait, and few enough that their tasks stay in the
    /// cache.
    public static let automatic = ConcurrencyLimit(count: 64)
    /// One operation: the queue is serial.
    public static let one = ConcurrencyLimit(count: 1)
    /// All ready operations.
    public static let unlimited = ConcurrencyLimit(count: .max)

    /// A limit of a positive number of operations.
    ///
    /// - Throws: ``OperationError/invalidLimit(_:)``.
    public static func atMost(_ count: Int) throws(OperationError) -> ConcurrencyLimit {
        guard count > 0 else { throw .invalidLimit(count) }
        return ConcurrencyLimit(count: count)
    }
}
