/// Hours of the day, on some days of the week, as a clock on the wall of a time zone shows them.
///
/// ```
/// 22:00 to 06:00                    every night
/// 18:00 to 24:00 on Fri             Friday evening
/// 00:00 to 24:00 on Sat, Sun        the weekend
/// ```
/// A window whose end is not after its start extends past midnight. It belongs to the day on which it begins.
///
/// What the clock shows decides, also when it is changed. A time that the clock skips is never shown: a window from
/// 02:15 to 02:45 does not open on the day on which 02:00 is followed by 03:00, and one from 02:30 to 04:00 opens at
/// 03:00. A time that the clock shows twice counts twice: a window from 02:15 to 02:45 then opens twice.
public struct TimeWindow: Sendable, Hashable {
    /// The time at which it opens, as `22:00`.
    public let start: String
    /// The time at which it closes, as `06:00`; `24:00` is the end of the day.
    public let end: String
    /// The days of the week on which it opens.
    public let days: Set<Weekday>
    /// The name of the time zone, for example `Europe/Berlin`.
    public let timeZone: String

    /// Minutes since midnight.
    private let minutes: Range<Int>
    private let zone: ZoneRules

    /// Makes a window.
    ///
    /// - Parameters:
    ///   - start: the time at which it opens, `00:00` to `23:59`.
    ///   - end: the time at which it closes, `00:00` to `24:00`. Not the same as the start.
    ///   - days: the days of the week on which it opens. At least one.
    ///   - timeZone: a name of the machine's time zone database, below `/usr/share/zoneinfo`.
    /// - Throws: ``WorkloadScheduleError`` for a malformed time, an empty window, no day, or an unknown time zone.
    public init(
        from start: String, to end: String, on days: Set<Weekday> = Set(Weekday.allCases), timeZone: String = "UTC"
    ) throws(WorkloadScheduleError) {
        try self.init(
            from: start, to: end, on: days, timeZone: timeZone, zone: ZoneDatabase().rules(named: timeZone))
    }

    init(
        from start: String, to end: String, on days: Set<Weekday>, timeZone: String, zone: ZoneRules
    ) throws(WorkloadScheduleError) {
        let opening = try Self.minute(start, atMost: 23 * 60 + 59)
        let closing = try Self.minute(end, atMost: Self.day)
        guard opening != closing else { throw .emptyWindow(start) }
        guard !days.isEmpty else { throw .noWeekdays }
        (self.start, self.end, self.days) = (start, end, days)
        (self.timeZone, self.zone) = (timeZone, zone)
        minutes = opening..<(closing > opening ? closing : closing + Self.day)
    }

    /// The minutes of a day.
    private static let day = 24 * 60

    /// Reads `HH:MM`.
    private static func minute(_ text: String, atMost latest: Int) throws(WorkloadScheduleError) -> Int {
        let parts = text.utf8.split(separator: 0x3A, omittingEmptySubsequences: false)
        let isTime =
            parts.count == 2
            && parts.allSatisfy { part in
                part.count == 2 && part.allSatisfy { (0x30...0x39).contains($0) }
            }
        guard isTime, let hour = Int(text.prefix(2)), let minute = Int(text.suffix(2)), minute < 60,
            hour * 60 + minute <= latest
        else { throw .malformedTime(text) }
        return hour * 60 + minute
    }

    /// Whether the window is open.
    ///
    /// - Complexity: O(log n) for n changes of the zone's clock.
    public func contains(_ time: WallTime) -> Bool {
        let local = zone.civil(at: time.secondsSince1970)
        let minute = local.hour * 60 + local.minute
        if minutes.contains(minute), opens(onWeekday: local.weekday) { return true }
        return minutes.contains(minute + Self.day) && opens(onWeekday: (local.weekday + 6) % 7)
    }

    private func opens(onWeekday number: Int) -> Bool {
        Weekday(rawValue: number).map { days.contains($0) } ?? false
    }

    /// Returns the first time after another one at which the window opens, or closes if it is open; `nil` if there is
    /// none within four weeks or in the range of times.
    ///
    /// - Complexity: O(d · log n) for d days on the way and n changes of the zone's clock.
    public func nextChange(after time: WallTime) -> WallTime? {
        let isOpen = contains(time)
        var now = time.secondsSince1970
        let limit = now &+ 28 * 86_400
        while now < limit {
            now = nextCandidate(after: now)
            let candidate = WallTime(secondsSince1970: now)
            guard candidate < .distantFuture else { return nil }
            if contains(candidate) != isOpen { return candidate }
        }
        return nil
    }

    /// The next time at which the clock shows the start or the end, or is changed.
    private func nextCandidate(after time: Int64) -> Int64 {
        let local = zone.civil(at: time)
        let second = Int64(local.hour * 3600 + local.minute * 60 + local.second)
        let steps = [minutes.lowerBound, minutes.upperBound % Self.day].map { minute -> Int64 in
            let wait = Int64(minute * 60) - second
            return wait > 0 ? wait : wait + 86_400
        }
        let next = time + (steps.min() ?? 86_400)
        return min(next, zone.transition(after: time)?.at ?? next)
    }

    /// Compares times, days and the zone's name. The zone's rules follow from its name.
    public static func == (left: TimeWindow, right: TimeWindow) -> Bool {
        left.minutes == right.minutes && left.days == right.days && left.timeZone == right.timeZone
    }

    /// Hashes times, days and the zone's name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(minutes)
        hasher.combine(days)
        hasher.combine(timeZone)
    }
}

extension TimeWindow: CustomStringConvertible {
    /// The window in words: `22:00 to 06:00 on Fri, Sat (Europe/Berlin)`.
    public var description: String {
        let all = days.count == Weekday.allCases.count
        let names = days.sorted().map(\.description).joined(separator: ", ")
        return "\(start) to \(end)\(all ? "" : " on \(names)") (\(timeZone))"
    }
}

extension TimeWindow: Codable {
    private enum CodingKeys: String, CodingKey {
        case start
        case end
        case days
        case timeZone
    }

    /// Reads a window, and looks its zone up.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let start = try container.decode(String.self, forKey: .start)
        let end = try container.decode(String.self, forKey: .end)
        let days = try container.decode([Weekday].self, forKey: .days)
        let timeZone = try container.decode(String.self, forKey: .timeZone)
        do {
            try self.init(from: start, to: end, on: Set(days), timeZone: timeZone)
        } catch {
            throw DecodingError.dataCorruptedError(forKey: .start, in: container, debugDescription: error.description)
        }
    }

    /// Writes times, days in order, and the zone's name. The same window gives the same text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(start, forKey: .start)
        try container.encode(end, forKey: .end)
        try container.encode(days.sorted(), forKey: .days)
        try container.encode(timeZone, forKey: .timeZone)
    }
}
