#if SQLite
import Foundation
import QoSCore
import QoSSQLiteStore

/// An item as the tool prints it.
struct WorkReport: Codable, Equatable {
    var item: Int64
    var workload: String
    var state: String
    var reason: String
    /// The reason for which the workload is paused; `nil` if it is not, or if the item has ended.
    var paused: String?
    var since: String
    var level: String
    var requestedLevel: String
    var attempts: Int
    var maximumAttempts: Int
    var due: String
    var inserted: String
    var finishedRuns: Int
    var failedRuns: Int
    var fence: UInt64
    var host: String?
    var cancellation: String?
    var lastError: String?
    var progress: String?
    var waitsFor: [Int64]
    var parameters: String
    var checkpoint: String?
    /// Whether the process that ran the item has ended for certain. Hosts take the item back at their next look.
    var isLost: Bool
    var schedule: String
    var catchUp: String
    var conditions: [String]
    var uniqueKey: String?
    var concurrencyKey: String?
    var onFailedParent: String
    var version: Int
    var lastRun: String?
    /// The last attempts that have failed; only where one item is shown.
    var history: [Attempt]?

    /// A failed attempt.
    struct Attempt: Codable, Equatable {
        var attempt: Int
        var fence: UInt64
        var host: String
        var began: String
        var ended: String
        var error: String

        init(_ entry: WorkloadAttempt) {
            (attempt, fence, host, error) = (entry.number, entry.fence, entry.host, entry.error)
            (began, ended) = ("\(entry.began)", "\(entry.ended)")
        }
    }

    /// - Parameters:
    ///   - lost: the processes that have ended for certain.
    ///   - history: the failed attempts of the item; `nil` to leave them out.
    init(
        _ record: WorkloadRecord, pauses: [WorkloadName: String], lost: Set<String> = [],
        history entries: [WorkloadAttempt]? = nil
    ) {
        isLost = record.life.process.map { lost.contains($0) } ?? false
        schedule = "\(record.request.schedule)"
        catchUp = record.request.catchUp.rawValue
        conditions = record.request.conditions.map { "\($0)" }.sorted()
        uniqueKey = record.request.unique?.key
        concurrencyKey = record.request.concurrency.map { "\($0.key), limit \($0.limit)" }
        onFailedParent = record.request.onFailedParent.rawValue
        version = record.request.version
        lastRun = record.lastRun.map { "\($0)" }
        history = entries.map { $0.map { Attempt($0) } }
        item = record.id.rawValue
        workload = record.request.name.rawValue
        state = record.state.rawValue
        reason = record.life.reason
        paused = record.state.isEnded ? nil : pauses[record.request.name]
        since = "\(record.life.since)"
        level = "\(record.level)"
        requestedLevel = "\(record.request.level)"
        attempts = record.life.attempts
        maximumAttempts = record.request.retry.maximumAttempts
        due = "\(record.due)"
        inserted = "\(record.inserted)"
        finishedRuns = record.life.finishedRuns
        failedRuns = record.life.failedRuns
        fence = record.life.fence
        host = record.life.host
        cancellation = record.life.cancellation
        lastError = record.life.lastError
        progress = record.progress.map { "\($0)" }
        waitsFor = record.waitsFor.map(\.rawValue)
        parameters = Self.text(record.request.parameters)
        checkpoint = record.checkpoint.map(Self.text(_:))
    }

    /// Bytes as text if they are that, else their number.
    private static func text(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self) ?? "\(bytes.count) bytes"
    }

    /// Keeps a text on its line: control characters of a reason or a name would move the cursor.
    static func plain(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }

    /// The processes that hold items and have ended for certain, as the kernel says.
    static func lostProcesses(of records: [WorkloadRecord]) -> Set<String> {
        let holders = SystemHolderProcesses(nil)
        return Set(records.compactMap(\.life.process)).filter { $0 != holders.current && holders.isGone($0) }
    }

    /// The state for people: nobody runs an item whose process has ended.
    var shownState: String { isLost ? "lost" : state }

    /// The reason, and that of a pause if it is another one.
    private var reasonWithPause: String {
        if isLost { return "the process of \(host ?? "its host") has ended; the next host takes the item" }
        guard let paused, paused != reason else { return reason }
        return "\(reason); paused: \(paused)"
    }

    /// One line for each item.
    static func table(_ reports: [WorkReport]) -> [String] {
        guard !reports.isEmpty else { return ["no items"] }
        var rows = [["ITEM", "WORKLOAD", "STATE", "LEVEL", "ATTEMPTS", "REASON"]]
        for report in reports {
            rows.append(
                [
                    "#\(report.item)", report.workload, report.shownState, report.level,
                    "\(report.attempts)/\(report.maximumAttempts)", report.reasonWithPause,
                ].map(plain(_:)))
        }
        let widths = (0..<5).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
                + "  " + row[5]
        }
    }

    /// All that is known of the item, one line each.
    var lines: [String] {
        let parents = waitsFor.map { "#\($0)" }.joined(separator: ", ")
        let isFirst = version == 1
        let all: [(String, String?)] = [
            ("item", "#\(item)"), ("workload", isFirst ? workload : "\(workload), version \(version)"),
            ("state", "\(shownState) since \(since)"),
            ("reason", isLost ? reasonWithPause : reason), ("paused", paused),
            ("level", level == requestedLevel ? level : "\(level), requested \(requestedLevel)"),
            ("attempts", "\(attempts) of \(maximumAttempts)"), ("schedule", schedule),
            ("catch-up", schedule.hasPrefix("once") ? nil : catchUp), ("due", due), ("last run", lastRun),
            ("conditions", conditions.isEmpty ? nil : conditions.joined(separator: "; ")), ("unique key", uniqueKey),
            ("shared key", concurrencyKey), ("inserted", inserted),
            ("runs", "\(finishedRuns) finished, \(failedRuns) failed"), ("lease", host.map { "\(fence) at \($0)" }),
            ("cancellation", cancellation), ("last error", lastError), ("progress", progress),
            ("waits for", parents.isEmpty ? nil : "\(parents), \(onFailedParent) if it fails"),
            ("parameters", parameters), ("checkpoint", checkpoint),
        ]
        let attempts = (history ?? []).map { entry in
            ("attempt \(entry.attempt)", "\(entry.began) to \(entry.ended) at \(entry.host): \(entry.error)" as String?)
        }
        return (all + attempts).compactMap { name, value in
            value.map { name.padding(toLength: 14, withPad: " ", startingAt: 0) + Self.plain($0) }
        }
    }
}
#endif
