/// The five fields of a cron expression, each as a set of bits.
struct CronFields: Sendable, Hashable {
    private(set) var minutes: UInt64 = 0
    private(set) var hours: UInt64 = 0
    private(set) var days: UInt64 = 0
    private(set) var months: UInt64 = 0
    private(set) var weekdays: UInt64 = 0
    /// Whether each day field restricts nothing: then the other one decides alone.
    private(set) var anyDay = false
    private(set) var anyWeekday = false
    /// Whether minute or hour begins with `*`: then the schedule follows the elapsed time over a change of the clock.
    private(set) var followsElapsedTime = false

    private static let names = [
        "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
        "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
    ]
    private static let monthNames = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
    private static let dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    init(_ expression: String) throws(WorkloadScheduleError) {
        let text = Self.names[expression.lowercased()] ?? expression
        let parts = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard parts.count == 5 else {
            throw .malformed(expression, "it has \(parts.count) fields instead of 5")
        }
        minutes = try Self.bits(parts[0], "minute", 0...59, of: expression)
        hours = try Self.bits(parts[1], "hour", 0...23, of: expression)
        days = try Self.bits(parts[2], "day of month", 1...31, of: expression)
        months = try Self.bits(parts[3], "month", 1...12, names: Self.monthNames, firstName: 1, of: expression)
        weekdays = try Self.bits(parts[4], "day of week", 0...7, names: Self.dayNames, firstName: 0, of: expression)
        if weekdays & (1 << 7) != 0 { weekdays = (weekdays | 1) & ~(1 << 7) }
        anyDay = parts[2].hasPrefix("*")
        anyWeekday = parts[4].hasPrefix("*")
        followsElapsedTime = parts[0].hasPrefix("*") || parts[1].hasPrefix("*")
    }

    /// Whether a date matches. With a `*` in one of the day fields both must match, otherwise either (`crontab(5)`).
    func matchesDate(_ time: CivilTime) -> Bool {
        guard months & (1 << UInt64(time.month)) != 0 else { return false }
        let day = days & (1 << UInt64(time.day)) != 0
        let weekday = weekdays & (1 << UInt64(time.weekday)) != 0
        return anyDay || anyWeekday ? day && weekday : day || weekday
    }

    func matchesHour(_ hour: Int) -> Bool { hours & (1 << UInt64(hour)) != 0 }

    func matchesMinute(_ minute: Int) -> Bool { minutes & (1 << UInt64(minute)) != 0 }

    /// Whether some date matches. The calendar repeats after 400 years; 29 February falls on each day of the week within
    /// 40.
    var firesEver: Bool {
        if !anyDay && !anyWeekday { return months != 0 }
        for year in 2000..<2040 {
            for month in 1...12 where months & (1 << UInt64(month)) != 0 {
                for day in 1...CronSchedule.days(of: month, in: year)
                where matchesDate(CivilTime(year: year, month: month, day: day)) { return true }
            }
        }
        return false
    }

    // MARK: Parsing

    private static func bits(
        _ field: String, _ name: String, _ range: ClosedRange<Int>, names: [String] = [], firstName: Int = 0,
        of expression: String
    ) throws(WorkloadScheduleError) -> UInt64 {
        var bits: UInt64 = 0
        for part in field.split(separator: ",", omittingEmptySubsequences: false) {
            guard let values = values(String(part), range, names: names, firstName: firstName) else {
                throw .malformed(
                    expression,
                    "'\(part)' is no \(name): use *, a number from \(range.lowerBound) to \(range.upperBound), "
                        + "a range, or a list, with a step like /2 if needed")
            }
            for value in values { bits |= 1 << UInt64(value) }
        }
        return bits
    }

    private static func values(
        _ part: String, _ range: ClosedRange<Int>, names: [String], firstName: Int
    ) -> StrideThrough<Int>? {
        let pieces = part.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(pieces.count) else { return nil }
        var step = 1
        if pieces.count == 2 {
            guard let number = number(pieces[1]), number > 0 else { return nil }
            step = number
        }
        if pieces[0] == "*" { return stride(from: range.lowerBound, through: range.upperBound, by: step) }
        let ends = pieces[0].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        func value(_ text: String) -> Int? {
            if let place = names.firstIndex(of: text.lowercased()) { return place + firstName }
            return number(text).flatMap { range.contains($0) ? $0 : nil }
        }
        guard (1...2).contains(ends.count), let first = value(ends[0]) else { return nil }
        guard ends.count == 2 else {
            // A step needs a range, as in crontab(5).
            return pieces.count == 1 ? stride(from: first, through: first, by: 1) : nil
        }
        guard let last = value(ends[1]), first <= last else { return nil }
        return stride(from: first, through: last, by: step)
    }

    private static func number(_ text: String) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
