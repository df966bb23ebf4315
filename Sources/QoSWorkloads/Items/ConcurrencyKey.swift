/// A limit for items with the same key: at most so many run at the same time, over all hosts of the store.
///
/// Items with the same key may name different limits. Each item may begin while the number of running items with the
/// key is below its own limit.
public struct ConcurrencyKey: Sendable, Hashable, Codable {
    /// The key.
    public var key: String
    /// The number of items that may run; at least 1.
    public var limit: Int

    /// Makes a limit; less than 1 counts as 1.
    public init(_ key: String, limit: Int = 1) {
        self.key = key
        self.limit = max(1, limit)
    }
}
