public import Foundation

/// The snapshots to keep. One that any rule keeps stays.
public struct RetentionPolicy: Sendable, Codable, Hashable {
    /// The number of last snapshots.
    public var last = 0
    /// The number of last days that have a snapshot; the last one of each stays.
    public var daily = 0
    /// The same for weeks, which begin on Monday.
    public var weekly = 0
    /// The same for months.
    public var monthly = 0
    /// The same for years.
    public var yearly = 0
    /// The time zone of days.
    public var timeZone = TimeZone.current

    /// Makes a policy that keeps nothing.
    public init() {}

    /// Whether no rule keeps anything.
    public var keepsNothing: Bool { [last, daily, weekly, monthly, yearly].allSatisfy { $0 <= 0 } }

    /// Returns the snapshots to forget. The rules count for each folder of each machine alone.
    public func toForget(_ snapshots: [Snapshot]) -> [Snapshot] {
        let groups = Dictionary(grouping: snapshots) { [$0.host, $0.folder] }
        return groups.values.flatMap(toForgetOfOneFolder).sorted { $0.time < $1.time }
    }

    private func toForgetOfOneFolder(_ snapshots: [Snapshot]) -> [Snapshot] {
        let newestFirst = snapshots.sorted { $0.time > $1.time }
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = timeZone
        var kept = Set(newestFirst.prefix(max(0, last)).map(\.id))
        let rules: [(Int, Set<Calendar.Component>)] = [
            (daily, [.year, .month, .day]), (weekly, [.yearForWeekOfYear, .weekOfYear]), (monthly, [.year, .month]),
            (yearly, [.year]),
        ]
        for (count, components) in rules where count > 0 {
            var periods: Set<DateComponents> = []
            for snapshot in newestFirst {
                let date = Date(timeIntervalSince1970: Double(snapshot.time) / 1e9)
                let period = calendar.dateComponents(components, from: date)
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
