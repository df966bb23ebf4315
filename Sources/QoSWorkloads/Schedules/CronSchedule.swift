/// Times of the wall clock by a cron expression of five fields: minute, hour, day of month, month, day of week. A sixth
/// field in front of them is the second.
///
/// ```
/// 30 2 * * 1-5        at 02:30 from Monday to Friday
/// */15 8-18 * * *     every quarter of an hour from 08:00 to 18:45
/// 0 4 1 JAN,JUL *     at 04:00 on the first of January and July
/// 0 18 L * *          at 18:00 on the last day of the month
/// 0 9 * * mon#1       at 09:00 on the first Monday of the month
/// */10 * * * * *      every ten seconds
/// @daily              0 0 * * *; also @hourly, @weekly, @monthly, @yearly
/// ```
/// A field is `*`, a number, a name of three letters (months, days), a range, or a list, each with an optional step. The
/// day of week is 0…7, and both 0 and 7 are Sunday. If both day fields are restricted, a day matches by either
/// (`crontab(5)`).
///
/// As in Quartz, `L` is the last day of the month, `L-3` three days before it, `LW` its last day from Monday to Friday,
/// `15W` the one nearest to the 15th, `5L` or `friL` the last Friday, and `5#3` or `fri#3` the third one. Unlike in
/// Quartz, 5 is Friday in all of them. `?` is `*`.
///
/// When clocks go forward, a fixed time in the skipped hour fires once, at the end of the gap. When they go back, a
/// fixed time in the doubled hour fires once, in its first pass. Expressions whose minute or hour begins with `*` follow
/// the elapsed time instead: nothing is caught up, and both passes count.
public struct CronSchedule: Sendable, Hashable {
    /// The expression.
    public let expression: String
    /// The name of the time zone, for example `Europe/Berlin`.
    public let timeZone: String

    let fields: CronFields
    let zone: ZoneRules

    /// Makes a schedule.
    ///
    /// - Parameters:
    ///   - expression: five or six fields, or one of the `@` names.
    ///   - timeZone: a name of the machine's time zone database, below `/usr/share/zoneinfo`.
    /// - Throws: ``WorkloadScheduleError`` for a malformed expression, one that never fires (`0 0 30 2 *`), or an
    ///   unknown time zone.
    public init(_ expression: String, timeZone: String = "UTC") throws(WorkloadScheduleError) {
        try self.init(expression, timeZone: timeZone, zone: ZoneDatabase().rules(named: timeZone))
    }

    init(_ expression: String, timeZone: String, zone: ZoneRules) throws(WorkloadScheduleError) {
        self.expression = expression
        self.timeZone = timeZone
        self.zone = zone
        fields = try CronFields(expression)
        guard fields.firesEver else { throw .neverFires(expression) }
    }

    /// Returns the first time after another one at which the schedule fires; `nil` beyond the range of times.
    ///
    /// - Complexity: O(1) steps for each change of month, day, hour and clock on the way, at most 8 years.
    public func next(after time: WallTime) -> WallTime? {
        guard time < .distantFuture else { return nil }
        return CronSearch(fields: fields, zone: zone).next(after: time.secondsSince1970)
            .map { WallTime(secondsSince1970: $0) }
    }

    static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Compares expression and zone. The zone's rules follow from its name.
    public static func == (left: CronSchedule, right: CronSchedule) -> Bool {
        left.expression == right.expression && left.timeZone == right.timeZone
    }

    /// Hashes expression and zone.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(expression)
        hasher.combine(timeZone)
    }
}

extension CronSchedule: Codable {
    private enum CodingKeys: String, CodingKey {
        case expression
        case timeZone
    }

    /// Reads expression and zone, and looks the zone up.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let expression = try container.decode(String.self, forKey: .expression)
        let timeZone = try container.decode(String.self, forKey: .timeZone)
        do {
            try self.init(expression, timeZone: timeZone)
        } catch {
            throw DecodingError.dataCorruptedError(
                forKey: .expression, in: container, debugDescription: error.description)
        }
    }

    /// Writes expression and zone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(expression, forKey: .expression)
        try container.encode(timeZone, forKey: .timeZone)
    }
}
