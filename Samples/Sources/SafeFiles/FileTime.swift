public import Glibc

/// Times of files as one number, in the order of the times.
///
/// A file system may keep any time from -2⁶³ to 2⁶³ seconds. No such time traps here, and each one that file systems on
/// disks keep comes back to the second:
///
/// | time | one step of the number |
/// |---|---|
/// | from June 1678 to July 2261 | a nanosecond, counted from 1970 |
/// | 412 years before and behind that | a microsecond |
/// | some 320 million years before and behind that | a second |
/// | beyond | the first or the last number |
public enum FileTime {
    private static let second: Int64 = 1_000_000_000
    private static let microseconds: Int64 = 1_000_000
    /// The seconds before and behind 1970 that are counted in nanoseconds.
    private static let near: Int64 = 9_200_000_000
    /// The seconds beyond them that are counted in microseconds.
    private static let middle: Int64 = 13_000_000_000
    /// The first number of microseconds, and the first one of whole seconds.
    private static let top = near * second
    private static let far = top + middle * microseconds

    /// Returns the number of a time.
    public static func number(_ time: timespec) -> Int64 {
        let seconds = Int64(time.tv_sec)
        let part = min(max(0, Int64(time.tv_nsec)), second - 1)
        if seconds >= near {
            let beyond = seconds - near
            guard beyond >= middle else { return top + beyond * microseconds + part / 1000 }
            return far.addingClamped(beyond - middle)
        }
        guard seconds < -near else { return seconds * second + part }
        // Fits: no time is more than 2⁶³ seconds before 1970.
        let beyond = -near - seconds
        guard beyond > middle else { return -top - beyond * microseconds + part / 1000 }
        return (-far).subtractingClamped(beyond - middle)
    }

    /// Returns the time of a number: the same number leads to it.
    public static func time(_ number: Int64) -> timespec {
        if number >= far { return timespec(tv_sec: Int(near + middle + (number - far)), tv_nsec: 0) }
        if number < -far { return timespec(tv_sec: Int(-near - middle + (number + far)), tv_nsec: 0) }
        let (start, offset, steps): (Int64, Int64, Int64) =
            if number >= top {
                (near, number - top, microseconds)
            } else if number < -top {
                (-near, number + top, microseconds)
            } else {
                (0, number, second)
            }
        let (quotient, remainder) = offset.quotientAndRemainder(dividingBy: steps)
        let whole = start + quotient - (remainder < 0 ? 1 : 0)
        let part = remainder < 0 ? remainder + steps : remainder
        return timespec(tv_sec: Int(whole), tv_nsec: Int(part * (second / steps)))
    }

    /// Whether a time comes back from its number as it was, to the last nanosecond.
    public static func isKept(_ time: timespec) -> Bool {
        let kept = Self.time(number(time))
        return kept.tv_sec == time.tv_sec && kept.tv_nsec == time.tv_nsec
    }

    /// The present, clock_gettime(2).
    public static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return number(time)
    }

    /// The number of whole seconds since 1970.
    public static func seconds(_ number: Int64) -> Int64 { Int64(time(number).tv_sec) }

    /// Returns the argument of utimensat(2) that sets the modification time, and leaves that of the last access.
    public static func setting(modified number: Int64) -> [timespec] {
        // UTIME_OMIT: the time of the last access stays.
        [timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2), time(number)]
    }

    /// Returns a time in UTC for people, as `2026-01-31T12:00:00Z`.
    ///
    /// - Parameter hasFraction: Whether nine digits behind the seconds are shown.
    public static func text(_ number: Int64, hasFraction: Bool = false) -> String {
        let time = Self.time(number)
        let day: Int64 = 86_400
        var (days, rest) = Int64(time.tv_sec).quotientAndRemainder(dividingBy: day)
        if rest < 0 { (days, rest) = (days - 1, rest + day) }
        let (year, month, dayOfMonth) = date(days)
        // ISO 8601 gives years of more than four digits a sign.
        let years = (0...9999).contains(year) ? digits(year, 4) : (year < 0 ? "-" : "+") + digits(abs(year), 4)
        let fraction = hasFraction ? "." + digits(Int64(time.tv_nsec), 9) : ""
        return "\(years)-\(digits(month, 2))-\(digits(dayOfMonth, 2))T\(digits(rest / 3600, 2)):"
            + "\(digits(rest / 60 % 60, 2)):\(digits(rest % 60, 2))\(fraction)Z"
    }

    /// The date of a day, counted from 1970-01-01, in the calendar of today for all times.
    ///
    /// Years begin in March here, so that the day that some of them have more is the last one. 400 years have as many
    /// days as any other 400.
    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let daysOfCycle: Int64 = 146_097
        // From 0000-03-01 on.
        let shifted = days + 719_468
        let cycle = (shifted >= 0 ? shifted : shifted - (daysOfCycle - 1)) / daysOfCycle
        let day = shifted - cycle * daysOfCycle
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let date = dayOfYear - (153 * month + 2) / 5 + 1
        let isNextYear = month >= 10
        return (year + cycle * 400 + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3, date)
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}

extension FixedWidthInteger {
    /// Returns the sum, or the nearest number if it does not fit. For times and sizes that others choose.
    public func addingClamped(_ other: Self) -> Self {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, or the nearest number if it does not fit.
    public func subtractingClamped(_ other: Self) -> Self {
        let (difference, overflows) = subtractingReportingOverflow(other)
        guard overflows else { return difference }
        return Self.isSigned && other < 0 ? .max : .min
    }
}
