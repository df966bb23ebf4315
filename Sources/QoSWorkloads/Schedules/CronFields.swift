/// The fields of a cron expression, each as a set of bits, and the days that depend on the month.
///
/// `L`, `W` and `#` mean what they mean in Quartz. The numbers of weekdays are those of `crontab(5)`: 0 is Sunday.
struct CronFields: Sendable, Hashable {
    /// A day that depends on the month.
    enum MovingDay: Sendable, Hashable {
        /// So many days before the last day of the month.
        case last(before: Int)
        /// The last weekday of the month, Monday to Friday.
        case lastWorkday
        /// The weekday that is nearest to a day, within the month.
        case workday(Int)
        /// The last Monday, for example.
        case lastWeekday(Int)
        /// The third Monday, for example.
        case nthWeekday(Int, Int)

        var isOfWeek: Bool {
            switch self {
            case .last, .lastWorkday, .workday: false
            case .lastWeekday, .nthWeekday: true
            }
        }

        func matches(_ time: CivilTime) -> Bool {
            let length = CronSchedule.days(of: time.month, in: time.year)
            switch self {
            case .last(let before): return time.day == length - before
            case .lastWorkday: return time.day == Self.workday(nearest: length, to: time, length)
            case .workday(let day):
                return day <= length && time.day == Self.workday(nearest: day, to: time, length)
            case .lastWeekday(let weekday): return time.weekday == weekday && time.day > length - 7
            case .nthWeekday(let weekday, let number):
                return time.weekday == weekday && (time.day - 1) / 7 == number - 1
            }
        }

        /// The workday nearest to a day of the month of a time.
        private static func workday(nearest day: Int, to time: CivilTime, _ length: Int) -> Int {
            switch ((time.weekday + day - time.day) % 7 + 7) % 7 {
            case 6: day > 1 ? day - 1 : day + 2
            case 0: day < length ? day + 1 : day - 2
            default: day
            }
        }
    }

    /// The seconds; the first one alone in an expression of five fields.
    private(set) var seconds: UInt64 = 1
    private(set) var minutes: UInt64 = 0
    private(set) var hours: UInt64 = 0
    private(set) var days: UInt64 = 0
    private(set) var months: UInt64 = 0
    private(set) var weekdays: UInt64 = 0
    private(set) var movingDays: [MovingDay] = []
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
        var parts = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard parts.count == 5 || parts.count == 6 else {
            let years = parts.count == 7 ? "; leave out the year" : ""
            let name = text.hasPrefix("@") ? "; the names are \(Self.names.keys.sorted().joined(separator: ", "))" : ""
            throw .malformed(
                expression, "it has \(parts.count) fields instead of 5, or of 6 with the second in front\(years)\(name)"
            )
        }
        if parts.count == 6 { seconds = try Self.bits(parts.removeFirst(), "second", 0...59, of: expression) }
        // Quartz writes it for a day field that the other one decides.
        for index in [2, 4] where parts[index] == "?" { parts[index] = "*" }
        movingDays =
            Self.takeDays(&parts[2], of: Self.movingDayOfMonth) + Self.takeDays(&parts[4], of: Self.movingDayOfWeek)
        minutes = try Self.bits(parts[0], "minute", 0...59, of: expression)
        hours = try Self.bits(parts[1], "hour", 0...23, of: expression)
        let (hasDays, hasWeekdays) = (!parts[2].isEmpty, !parts[4].isEmpty)
        if hasDays { days = try Self.bits(parts[2], "day of month", 1...31, of: expression) }
        months = try Self.bits(parts[3], "month", 1...12, names: Self.monthNames, firstName: 1, of: expression)
        if hasWeekdays {
            weekdays = try Self.bits(
                parts[4], "day of week", 0...7, names: Self.dayNames, firstName: 0, of: expression)
        }
        if weekdays & (1 << 7) != 0 { weekdays = (weekdays | 1) & ~(1 << 7) }
        anyDay = parts[2].hasPrefix("*")
        anyWeekday = parts[4].hasPrefix("*")
        followsElapsedTime = parts[0].hasPrefix("*") || parts[1].hasPrefix("*")
    }

    /// Whether a date matches. With a `*` in one of the day fields both must match, otherwise either (`crontab(5)`).
    func matchesDate(_ time: CivilTime) -> Bool {
        guard months & (1 << UInt64(time.month)) != 0 else { return false }
        var day = days & (1 << UInt64(time.day)) != 0
        var weekday = weekdays & (1 << UInt64(time.weekday)) != 0
        for moving in movingDays where moving.matches(time) {
            if moving.isOfWeek { weekday = true } else { day = true }
        }
        return anyDay || anyWeekday ? day && weekday : day || weekday
    }

    func matchesHour(_ hour: Int) -> Bool { hours & (1 << UInt64(hour)) != 0 }

    func matchesMinute(_ minute: Int) -> Bool { minutes & (1 << UInt64(minute)) != 0 }

    /// Whether some date matches. The calendar repeats after 400 years; 29 February falls on each day of the week within
    /// 40.
    var firesEver: Bool {
        for year in 2000..<2040 {
            for month in 1...12 where months & (1 << UInt64(month)) != 0 {
                for day in 1...CronSchedule.days(of: month, in: year)
                where matchesDate(CivilTime(year: year, month: month, day: day)) { return true }
            }
        }
        return false
    }

    // MARK: Parsing

    /// Takes the moving days out of a field. What is left is empty if there is nothing else.
    private static func takeDays(_ field: inout String, of read: (String) -> MovingDay?) -> [MovingDay] {
        let parts = field.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let moving = parts.compactMap(read)
        let rest = parts.filter { read($0) == nil }
        // The rest says what is wrong with an empty part.
        if !moving.isEmpty { field = rest.contains("") ? "," : rest.joined(separator: ",") }
        return moving
    }

    /// `L`, `L-3`, `LW`, `15W`.
    private static func movingDayOfMonth(_ part: String) -> MovingDay? {
        let text = part.uppercased()
        if text == "L" { return .last(before: 0) }
        if text == "LW" || text == "WL" { return .lastWorkday }
        if text.hasPrefix("L-"), let before = number(String(text.dropFirst(2))), before <= 30 {
            return .last(before: before)
        }
        guard text.hasSuffix("W"), let day = number(String(text.dropLast())), (1...31).contains(day) else { return nil }
        return .workday(day)
    }

    /// `5L` and `L5`, `friL`, `5#3`, `fri#3`.
    private static func movingDayOfWeek(_ part: String) -> MovingDay? {
        let text = part.lowercased()
        let pieces = text.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
        if pieces.count == 2 {
            guard let day = weekday(pieces[0]), let number = number(pieces[1]), (1...5).contains(number) else {
                return nil
            }
            return .nthWeekday(day, number)
        }
        guard text.count > 1, text.hasSuffix("l") || text.hasPrefix("l") else { return nil }
        return weekday(String(text.hasSuffix("l") ? text.dropLast() : text.dropFirst())).map { .lastWeekday($0) }
    }

    private static func weekday(_ text: String) -> Int? {
        if let place = dayNames.firstIndex(of: text) { return place }
        return number(text).flatMap { $0 <= 7 ? $0 % 7 : nil }
    }

    /// What to write instead of a part that cannot be read; `nil` if nobody knows.
    private static func hint(
        for part: String, _ name: String, _ range: ClosedRange<Int>, _ names: [String], _ firstName: Int
    )
        -> String?
    {
        if part.isEmpty { return "leave out the comma that is one too many" }
        let isOfWeek = name == "day of week"
        let lower = part.lowercased()
        if lower == "l", isOfWeek { return "write 6 for each Saturday, or 6L for the last one of the month" }
        if lower.hasSuffix("w"), name == "day of month", lower.contains("-") {
            return "write the days of the week as 1-5, or one day as 15W"
        }
        if lower == "?" { return "write * for any \(name)" }
        let pieces = lower.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        func value(_ text: String) -> Int? { names.firstIndex(of: text).map { $0 + firstName } ?? number(text) }
        let ends = pieces[0].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        let step = pieces.count == 2 ? "/\(pieces[1])" : ""
        if ends.count == 1, pieces.count == 2, pieces[1] == "0" || pieces[1].isEmpty {
            return "a step is 1 or more, as \(pieces[0].isEmpty ? "*" : pieces[0])/2"
        }
        if ends.count == 1, pieces.count == 2, let first = value(ends[0]), range.contains(first) {
            return "write \(first)-\(isOfWeek ? 6 : range.upperBound)\(step)"
        }
        if pieces[0].isEmpty, pieces.count == 2 { return "write *\(step)" }
        guard ends.count == 2, let first = value(ends[0]), let last = value(ends[1]), range.contains(first),
            range.contains(last), last < first
        else { return nil }
        // A range over the end of the week, the day or the year.
        if isOfWeek, last == 0 { return "write \(first)-7\(step)" }
        guard step.isEmpty else { return "write it as two ranges" }
        let top = isOfWeek ? 6 : range.upperBound
        func text(_ low: Int, _ high: Int) -> String { low == high ? "\(low)" : "\(low)-\(high)" }
        return "write \(text(first, top)),\(text(range.lowerBound, last))"
    }

    private static func bits(
        _ field: String, _ name: String, _ range: ClosedRange<Int>, names: [String] = [], firstName: Int = 0,
        of expression: String
    ) throws(WorkloadScheduleError) -> UInt64 {
        var bits: UInt64 = 0
        for part in field.split(separator: ",", omittingEmptySubsequences: false) {
            guard let values = values(String(part), range, names: names, firstName: firstName) else {
                let text = String(part)
                if let hint = hint(for: text, name, range, names, firstName) {
                    throw .malformed(expression, "'\(part)' is no \(name): \(hint)")
                }
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
