internal import QoSCore

/// A time of the wall clock, in nanoseconds since 1970-01-01 00:00 UTC.
///
/// Due times are wall-clock times, because they survive a restart. Range: the years 1678 to 2262. Arithmetic stops at
/// the ends of the range.
public struct WallTime: Sendable, Hashable, Codable {
    /// Nanoseconds since 1970-01-01 00:00 UTC, without leap seconds.
    public let nanosecondsSince1970: Int64

    /// Makes a time from nanoseconds since 1970-01-01 00:00 UTC.
    public init(nanosecondsSince1970: Int64) {
        self.nanosecondsSince1970 = nanosecondsSince1970
    }

    /// Makes a time from seconds since 1970-01-01 00:00 UTC.
    public init(secondsSince1970: Int64) {
        let (product, isBeyond) = secondsSince1970.multipliedReportingOverflow(by: 1_000_000_000)
        nanosecondsSince1970 = isBeyond ? (secondsSince1970 < 0 ? .min : .max) : product
    }

    /// The whole seconds since 1970, rounded down.
    public var secondsSince1970: Int64 {
        let (quotient, remainder) = nanosecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The last time of the range: an item with this due time waits for something else than the clock.
    public static let distantFuture = WallTime(nanosecondsSince1970: .max)

    /// Returns the time that is a duration later, or earlier for a negative duration.
    public func advanced(by duration: Duration) -> WallTime {
        let delta = duration.schedulerNanoseconds
        let (sum, isBeyond) = nanosecondsSince1970.addingReportingOverflow(delta)
        return WallTime(nanosecondsSince1970: isBeyond ? (delta < 0 ? .min : .max) : sum)
    }

    /// Returns the duration from this time to another one.
    public func duration(to other: WallTime) -> Duration {
        let (difference, isBeyond) = other.nanosecondsSince1970.subtractingReportingOverflow(nanosecondsSince1970)
        return .nanoseconds(isBeyond ? (other < self ? .min : .max) : difference)
    }
}

extension WallTime: Comparable {
    /// Orders by time.
    public static func < (left: WallTime, right: WallTime) -> Bool {
        left.nanosecondsSince1970 < right.nanosecondsSince1970
    }
}

extension WallTime: CustomStringConvertible {
    /// The time in UTC, to the second: `2026-11-22 16:30:05Z`.
    public var description: String {
        guard self != .distantFuture else { return "never" }
        let civil = CivilTime(secondsSince1970: secondsSince1970)
        return "\(civil)Z"
    }
}
