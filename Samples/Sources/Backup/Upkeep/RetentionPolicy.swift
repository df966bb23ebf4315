public import Foundation
public import SafeFiles

/// The snapshots to keep. One that any rule keeps stays.
///
/// A snapshot of the future was made by a wrong clock. It stays, and counts for no rule: so it makes no other one go.
public struct RetentionPolicy: Sendable, Codable, Hashable {
    /// A time before the last snapshot, by the calendar: `1y2m3w4d5h`.
    public struct Span: Sendable, Codable, Hashable, CustomStringConvertible {
        /// The numbers of units, by their letters: y, m, w, d and h.
        private var counts: [String: Int]

        private static let units: [Character: Calendar.Component] = [
            "y": .year, "m": .month, "w": .weekOfYear, "d": .day, "h": .hour,
        ]

        /// Reads a text; nil if it is none. The largest number of a unit is 100,000.
        public init?(_ text: String) {
            var counts: [String: Int] = [:]
            var digits = ""
            for character in text {
                if character.isASCII, character.isNumber {
                    digits.append(character)
                } else {
                    guard Self.units[character] != nil, counts[String(character)] == nil, let count = Int(digits),
                        (1...100_000).contains(count)
                    else { return nil }
                    counts[String(character)] = count
                    digits = ""
                }
            }
            guard digits.isEmpty, !counts.isEmpty else { return nil }
            self.counts = counts
        }

        /// The text.
        public var description: String {
            ["y", "m", "w", "d", "h"].compactMap { unit in counts[unit].map { "\($0)\(unit)" } }.joined()
        }

        fileprivate func start(before date: Date, _ calendar: Calendar) -> Date {
            var date = date
            for (letter, unit) in Self.units {
                guard let count = counts[String(letter)] else { continue }
                date = calendar.date(byAdding: unit, value: -count, to: date) ?? .distantPast
            }
            return date
        }
    }

    /// The number of last snapshots.
    public var last = 0
    /// The number of last hours that have a snapshot; the last one of each stays.
    public var hourly = 0
    /// The same for days.
    public var daily = 0
    /// The same for weeks, which begin on Monday.
    public var weekly = 0
    /// The same for months.
    public var monthly = 0
    /// The same for years.
    public var yearly = 0
    /// The time before the last snapshot in which all stay; nil for none.
    public var within: Span?
    /// The time zone of days.
    public var timeZone = TimeZone.current

    /// Makes a policy that keeps nothing.
    public init() {}

    /// Reads a policy, also one that an earlier version stored, which knew neither hours nor `within`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        last = try values.decode(Int.self, forKey: .last)
        hourly = try values.decodeIfPresent(Int.self, forKey: .hourly) ?? 0
        daily = try values.decode(Int.self, forKey: .daily)
        weekly = try values.decode(Int.self, forKey: .weekly)
        monthly = try values.decode(Int.self, forKey: .monthly)
        yearly = try values.decode(Int.self, forKey: .yearly)
        within = try values.decodeIfPresent(Span.self, forKey: .within)
        timeZone = try values.decode(TimeZone.self, forKey: .timeZone)
    }

    /// Whether no rule keeps anything.
    public var keepsNothing: Bool {
        within == nil && [last, hourly, daily, weekly, monthly, yearly].allSatisfy { $0 <= 0 }
    }

    /// Returns the snapshots to forget. The rules count for each folder of each machine alone.
    ///
    /// - Parameter now: The present, in nanoseconds since 1970.
    public func toForget(_ snapshots: [Snapshot], at now: Int64 = FileTime.now) -> [Snapshot] {
        // By bytes: texts of Swift are equal if they are different ways to write the same letters.
        let groups = Dictionary(grouping: snapshots.filter { !$0.isOfFuture(at: now) }) { snapshot in
            [Array(snapshot.host.utf8), Array(snapshot.folder.utf8)]
        }
        return groups.values.flatMap(toForgetOfOneFolder).sorted { $0.time < $1.time }
    }

    private func toForgetOfOneFolder(_ snapshots: [Snapshot]) -> [Snapshot] {
        let newestFirst = snapshots.sorted { $0.time > $1.time }
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = timeZone
        func date(_ snapshot: Snapshot) -> Date {
            Date(timeIntervalSince1970: Double(FileTime.seconds(snapshot.time)))
        }
        var kept = Set(newestFirst.prefix(max(0, last)).map(\.id))
        if let within, let newest = newestFirst.first {
            let start = within.start(before: date(newest), calendar)
            kept.formUnion(newestFirst.filter { date($0) >= start }.map(\.id))
        }
        let rules: [(Int, Set<Calendar.Component>)] = [
            (hourly, [.year, .month, .day, .hour]), (daily, [.year, .month, .day]),
            (weekly, [.yearForWeekOfYear, .weekOfYear]), (monthly, [.year, .month]), (yearly, [.year]),
        ]
        for (count, components) in rules where count > 0 {
            var periods: Set<DateComponents> = []
            for snapshot in newestFirst {
                let period = calendar.dateComponents(components, from: date(snapshot))
                guard periods.count < count || periods.contains(period) else { break }
                if periods.insert(period).inserted { kept.insert(snapshot.id) }
            }
        }
        return newestFirst.filter { !kept.contains($0.id) }
    }
}

extension Repository {
    /// Removes snapshots. Their blobs stay until a prune.
    public func forget(_ snapshots: [Snapshot]) throws {
        for id in snapshots.compactMap(\.id) { try folder.remove(id, from: .snapshots) }
    }
}
