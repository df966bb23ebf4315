/// The answer to an insertion with the unique key of an item that has not ended.
public enum DuplicatePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// The existing item stays. Nothing is inserted.
    case keep
    /// The existing item is cancelled. The new one takes its place, and its dependents. If the existing item runs, the
    /// new one waits for its end.
    case replace
    /// The new item runs after the existing one, whatever becomes of it.
    case append
    /// The existing item stays, and takes the new level if that is higher (rule O6).
    case promote
    /// The existing item stays, and takes over the new request: parameters, level, schedule, retries, conditions and
    /// limit. It keeps its number, attempts, last run and checkpoint, its dependencies with their policy, and its
    /// dependents.
    ///
    /// A new schedule is planned from the last run, or from the insertion if there was none. So a program may submit its
    /// items at each start, and no start puts a run off. A level that falls holds from the next run on, and an attempt
    /// that runs keeps the parameters with which it began.
    case update
}

/// A key that at most one unfinished item of a store has.
public struct UniqueKey: Sendable, Hashable, Codable {
    /// The key.
    public var key: String
    /// The answer to a duplicate.
    public var onDuplicate: DuplicatePolicy

    /// Makes a key.
    public init(_ key: String, onDuplicate: DuplicatePolicy = .keep) {
        self.key = key
        self.onDuplicate = onDuplicate
    }

    /// Makes a key.
    public static func key(_ key: String, onDuplicate: DuplicatePolicy = .keep) -> UniqueKey {
        UniqueKey(key, onDuplicate: onDuplicate)
    }
}
