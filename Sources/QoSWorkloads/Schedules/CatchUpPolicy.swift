/// The answer of a repeating item to runs that fell into a downtime.
public enum CatchUpPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// One run for all that were missed.
    case runOnce
    /// One run for each, one after the other.
    case runAll
    /// No run: the item waits for its next regular time.
    case skip
}
