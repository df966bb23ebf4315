/// A rate limit: tokens come at a constant rate, and a request takes as many as it needs.
///
/// A request may begin as soon as there is one token, and takes all of its tokens then. The missing ones are a debt, so
/// requests of any size pass, and the rate holds over time. Unused tokens are kept for a tenth of a second: an idle class
/// saves no credit for a burst.
///
/// A pure value; time is an argument.
package struct TokenBucket: Sendable, Hashable {
    /// The time for which unused tokens are kept, in seconds.
    private static let keptSeconds = 0.1

    /// The part of a token, or of a nanosecond, that rounding may take away.
    private static let precision = 1e-3

    /// Tokens per second; `nil` for no limit.
    package private(set) var rate: Int?
    private var level = 0.0
    private var updated = SchedulerInstant(nanoseconds: 0)

    /// Makes a bucket without a limit.
    package init() {}

    /// The number of tokens that a full bucket has.
    private var capacity: Double { max(1, Double(rate ?? 0) * Self.keptSeconds) }

    /// Sets the rate. A debt stays, so a new limit is no way around the old one.
    ///
    /// - Parameter rate: tokens per second; 0 stops all requests, `nil` lifts the limit.
    package mutating func setRate(_ rate: Int?, at now: SchedulerInstant) {
        guard rate != self.rate else { return }
        fill(at: now)
        let wasUnlimited = self.rate == nil
        self.rate = rate.map { max(0, $0) }
        if wasUnlimited { level = capacity }
        level = min(level, capacity)
        updated = now
    }

    /// Returns the earliest moment at which a request may begin, `now` or later; `nil` while the rate is 0.
    package mutating func nextStart(at now: SchedulerInstant) -> SchedulerInstant? {
        guard let rate else { return now }
        fill(at: now)
        // A rate of 0 stops a full bucket, too.
        guard rate > 0 else { return nil }
        guard level < 1 - Self.precision else { return now }
        let seconds = (1 - level) / Double(rate)
        guard seconds < 1e9 else { return nil }
        return now.advanced(byNanoseconds: max(1, Int64((seconds * 1e9 - Self.precision).rounded(.up))))
    }

    /// Takes the tokens of a request that begins.
    package mutating func take(_ tokens: Int, at now: SchedulerInstant) {
        guard rate != nil else { return }
        fill(at: now)
        level -= Double(max(0, tokens))
    }

    private mutating func fill(at now: SchedulerInstant) {
        guard let rate, now > updated else { return }
        let seconds = Double(now.nanoseconds &- updated.nanoseconds) / 1e9
        level = min(capacity, level + seconds * Double(rate))
        updated = now
    }
}
