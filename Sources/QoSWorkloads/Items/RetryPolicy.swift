internal import QoSCore

/// The answer to failed attempts: exponential backoff with jitter, up to a number of attempts.
///
/// The delay before attempt n + 1 is `base` · 2ⁿ⁻¹, at most `limit`. The jitter takes away up to its share of the
/// delay, so that items which failed together do not come back together.
public struct RetryPolicy: Sendable, Hashable, Codable {
    /// The number of attempts of a run, the first one included; at least 1.
    public var maximumAttempts: Int
    /// The delay after the first failed attempt.
    public var base: Duration
    /// The longest delay.
    public var limit: Duration
    /// The share of a delay that is random, 0…1.
    public var jitter: Double

    /// Makes a policy. Values outside of their ranges are set to the nearest valid one.
    public init(
        maximumAttempts: Int = 5, base: Duration = .seconds(10), limit: Duration = .seconds(3600), jitter: Double = 0.5
    ) {
        self.maximumAttempts = max(1, maximumAttempts)
        self.base = max(.zero, base)
        self.limit = max(self.base, limit)
        self.jitter = jitter.isNaN ? 0 : min(max(jitter, 0), 1)
    }

    /// One attempt, no retry.
    public static let never = RetryPolicy(maximumAttempts: 1)

    /// Returns the delay after a failed attempt. The same arguments give the same delay.
    ///
    /// - Parameters:
    ///   - attempt: the number of the failed attempt, from 1.
    ///   - seed: the source of the jitter, for example the number of the item.
    public func delay(afterAttempt attempt: Int, seed: UInt64) -> Duration {
        let longest = Double(limit.schedulerNanoseconds)
        // Powers beyond this one pass any limit.
        let factor = Double(sign: .plus, exponent: min(max(attempt - 1, 0), 200), significand: 1)
        let full = min(Double(base.schedulerNanoseconds) * factor, longest)
        let share = min(max(1 - jitter * MixedNumber.unit(seed, UInt64(clamping: attempt)), 0), 1)
        // A limit of centuries is the largest number, which a Double rounds up.
        return .nanoseconds(Int64(exactly: (full * share).rounded(.down)) ?? .max)
    }
}
