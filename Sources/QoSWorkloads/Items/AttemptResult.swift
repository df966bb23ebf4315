/// The end of an attempt, as a host reports it to the store.
public enum AttemptResult: Sendable, Hashable {
    /// The run is done.
    case finished
    /// The item continues later, from its checkpoint. The attempt does not count.
    ///
    /// With a delay, the item waits at least that long.
    case deferred(reason: String, delay: Duration?)
    /// The attempt failed. Without a delay, the retry policy gives one.
    case failed(error: String, delay: Duration?)
}

extension AttemptResult: CustomStringConvertible {
    /// The end in words: `deferred: the machine is hot`.
    public var description: String {
        switch self {
        case .finished: "finished"
        case .deferred(let reason, _): "deferred: \(reason)"
        case .failed(let error, _): "failed: \(error)"
        }
    }
}
