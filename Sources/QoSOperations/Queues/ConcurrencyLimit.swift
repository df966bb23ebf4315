/// How many operations of a queue may run at the same time.
public struct ConcurrencyLimit: Sendable, Hashable {
    /// The number.
    public let count: Int

    /// 64: more than the processors, for operations that wait, and few enough that their tasks stay in the cache.
    public static let automatic = ConcurrencyLimit(count: 64)
    /// One: the queue is serial.
    public static let one = ConcurrencyLimit(count: 1)
    /// All that are ready.
    public static let unlimited = ConcurrencyLimit(count: .max)

    /// A number of operations; positive.
    ///
    /// - Throws: ``OperationError/invalidLimit(_:)``.
    public static func atMost(_ count: Int) throws(OperationError) -> ConcurrencyLimit {
        guard count > 0 else { throw .invalidLimit(count) }
        return ConcurrencyLimit(count: count)
    }
}
