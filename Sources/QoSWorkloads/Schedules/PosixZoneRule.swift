/// The rule of a time zone as a POSIX `TZ` string: `CET-1CEST,M3.5.0,M10.5.0/3`. Only such rules apply to future years.
///
/// Source: POSIX.1, "Other Environment Variables"; RFC 9636 allows hours of −167…167.
struct PosixZoneRule: Sendable, Hashable {
    /// A day of each year on which the clock is set.
    private enum Day: Hashable {
        /// The week 1…5 of a month, 5 is the last one, and the day of the week.
        case weekday(month: Int, week: Int, day: Int)
        /// 1…365; 29 February is not counted.
        case julian(Int)
        /// 0…365; 29 February is counted.
        case ordinal(Int)
    }

    private struct Change: Hashable {
        var day: Day
        /// Seconds after midnight.
        var time: Int64
    }

    private struct Summer: Hashable {
        var offset: Int64
        var begin: Change
        var end: Change
    }

    /// Seconds east of UTC.
    let standard: Int64
    private let summer: Summer?

    /// Parses a rule; `nil` for an empty or malformed one.
    init?(_ text: String) {
        var scanner = RuleScanner(text)
        guard scanner.skipName(), let standard = scanner.offset() else { return nil }
        self.standard = -standard
        guard !scanner.isAtEnd else {
            summer = nil
            return
        }
        guard scanner.skipName() else { return nil }
        var offset = self.standard + 3600
        if !scanner.isNext(",") {
            guard let other = scanner.offset() else { return nil }
            offset = -other
        }
        guard scanner.skip(","), let begin = Self.change(&scanner), scanner.skip(","), let end = Self.change(&scanner),
            scanner.isAtEnd
        else { return nil }
        summer = Summer(offset: offset, begin: begin, end: end)
    }

    private static func change(_ scanner: inout RuleScanner) -> Change? {
        let day: Day
        if scanner.skip("M") {
            guard let month = scanner.number(1...12), scanner.skip("."), let week = scanner.number(1...5),
                scanner.skip("."), let weekday = scanner.number(0...6)
            else { return nil }
            day = .weekday(month: month, week: week, day: weekday)
        } else if scanner.skip("J") {
            guard let number = scanner.number(1...365) else { return nil }
            day = .julian(number)
        } else {
            guard let number = scanner.number(0...365) else { return nil }
            day = .ordinal(number)
        }
        guard scanner.skip("/") else { return Change(day: day, time: 7200) }
        return scanner.offset().map { Change(day: day, time: $0) }
    }

    /// Returns the transitions of some years, in order.
    func transitions(years: ClosedRange<Int>) -> [ZoneRules.Transition] {
        guard let summer else {
            return [ZoneRules.Transition(time: Self.midnight(years.lowerBound, 1, 1), offset: standard)]
        }
        let all = years.flatMap { year in
            [
                ZoneRules.Transition(
                    time: Self.time(of: summer.begin, in: year) - standard, offset: summer.offset),
                ZoneRules.Transition(
                    time: Self.time(of: summer.end, in: year) - summer.offset, offset: standard),
            ]
        }
        return all.sorted { $0.time < $1.time }
    }

    /// Returns the time of a change as seconds of the local clock.
    private static func time(of change: Change, in year: Int) -> Int64 {
        let start: Int64
        switch change.day {
        case .weekday(let month, let week, let day):
            let first = CivilTime(year: year, month: month, day: 1)
            var date = 1 + (day - first.weekday + 7) % 7 + (week - 1) * 7
            if date > CronSchedule.days(of: month, in: year) { date -= 7 }
            start = midnight(year, month, date)
        case .julian(let number):
            let isLater = number >= 60 && CronSchedule.days(of: 2, in: year) == 29
            start = midnight(year, 1, 1) + Int64(number - 1 + (isLater ? 1 : 0)) * 86_400
        case .ordinal(let number):
            start = midnight(year, 1, 1) + Int64(number) * 86_400
        }
        return start + change.time
    }

    private static func midnight(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
        CivilTime(year: year, month: month, day: day).secondsSince1970
    }
}

/// Scans the pieces of a rule.
private struct RuleScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    func isNext(_ character: Character) -> Bool { rest.first == character.asciiValue }

    mutating func skip(_ character: Character) -> Bool {
        guard isNext(character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Skips a zone's name: letters, or anything inside of `<>`.
    mutating func skipName() -> Bool {
        if skip("<") {
            rest = rest.drop { $0 != UInt8(ascii: ">") }
            return skip(">")
        }
        let before = rest.count
        rest = rest.drop { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
        return before - rest.count >= 3
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard (1...3).contains(digits.count), let value = Int(String(decoding: digits, as: UTF8.self)) else {
            return nil
        }
        rest = rest.dropFirst(digits.count)
        return range.contains(value) ? value : nil
    }

    /// Reads `[+-]hh[:mm[:ss]]` as seconds.
    mutating func offset() -> Int64? {
        let isNegative = skip("-")
        if !isNegative { _ = skip("+") }
        guard let hours = number(0...167) else { return nil }
        var seconds = hours * 3600
        for unit in [60, 1] where skip(":") {
            guard let value = number(0...59) else { return nil }
            seconds += value * unit
        }
        return Int64(isNegative ? -seconds : seconds)
    }
}
