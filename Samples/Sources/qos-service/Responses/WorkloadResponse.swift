internal import Foundation
internal import QoSCore
internal import QoSWorkloads

/// An item in the answers of `/workloads` and `/events`. Keys are written in snake case.
struct WorkloadResponse: Encodable {
    struct Progress: Encodable {
        let completed: Int
        let total: Int?
        let unit: String
    }

    struct Condition: Encodable {
        let label: String
        let text: String
        let isMet: Bool
        let reason: String?
    }

    /// What only the owner of the service may see.
    struct Private: Encodable {
        let reason: String
        let lastError: String?
        let pausedBecause: String?
        let conditions: [Condition]
        let host: String?
        let uniqueKey: String?
    }

    /// The longest text of parameters or a checkpoint.
    private static let textLimit = 4000

    let id: Int64
    let name: String
    let label: String?
    let state: WorkloadState
    /// Seconds since 1970.
    let since: Double
    /// Seconds since the item waits or pauses; nil if it does neither.
    var waiting: Double?
    let level: QoSLevel
    let requestedLevel: QoSLevel
    let isPromoted: Bool
    let isDeferred: Bool
    let obstacles: [String]
    let attempts: Int
    let maximumAttempts: Int
    let finishedRuns: Int
    let failedRuns: Int
    let schedule: String
    /// Seconds since 1970; nil if the item waits for no time.
    let due: Double?
    let progress: Progress?
    let hasCheckpoint: Bool
    let waitsFor: [Int64]
    /// The actions that make sense now.
    let actions: [WorkloadAction]
    let details: Private?
    /// As JSON, only in the answer about one item.
    var parameters: String?
    var checkpoint: String?

    /// Makes the answer.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - pauses: The paused workloads with their reasons.
    ///   - isTrusted: Whether to show reasons and errors, which name files of this machine.
    ///   - isWhole: Whether to show parameters and checkpoint, too.
    init(_ item: WorkloadSnapshot.Item, pauses: [WorkloadName: String], isTrusted: Bool, isWhole: Bool = false) {
        let record = item.record
        let life = record.life
        let isPaused = pauses[record.request.name] != nil
        id = record.id.rawValue
        name = record.request.name.rawValue
        label = Self.label(of: record, isTrusted: isTrusted)
        state = record.state
        since = Self.seconds(life.since)
        waiting = item.waiting.map { ($0 / .milliseconds(1)).rounded() / 1000 }
        level = record.level
        requestedLevel = record.request.level
        isPromoted = item.isPromoted
        isDeferred = item.isDeferred
        obstacles = item.obstacles
        attempts = life.attempts
        maximumAttempts = record.request.retry.maximumAttempts
        finishedRuns = life.finishedRuns
        failedRuns = life.failedRuns
        schedule = Self.text(of: record.request.schedule)
        due = record.state == .scheduled && record.due != .distantFuture ? Self.seconds(record.due) : nil
        progress = record.progress.map { Progress(completed: $0.completed, total: $0.total, unit: $0.unit.rawValue) }
        hasCheckpoint = record.checkpoint != nil
        waitsFor = record.waitsFor.map(\.rawValue)
        actions = WorkloadAction.allCases.filter { $0.fits(record, isPaused: isPaused) }
        guard isTrusted else {
            details = nil
            return
        }
        details = Private(
            reason: item.pause ?? life.reason,
            lastError: life.lastError,
            pausedBecause: pauses[record.request.name],
            conditions: item.conditions.map { judgement in
                if case .unmet(let reason) = judgement.verdict {
                    Condition(
                        label: judgement.condition.label, text: "\(judgement.condition)", isMet: false, reason: reason)
                } else {
                    Condition(
                        label: judgement.condition.label, text: "\(judgement.condition)", isMet: true, reason: nil)
                }
            },
            host: life.host,
            uniqueKey: record.request.unique?.key
        )
        guard isWhole else { return }
        parameters = Self.text(record.request.parameters)
        checkpoint = record.checkpoint.map(Self.text)
    }

    /// Returns the label that a client may see: it may name a folder of this machine.
    static func label(of record: WorkloadRecord, isTrusted: Bool) -> String? {
        isTrusted ? record.request.label : record.request.label.flatMap { $0.contains("/") ? nil : $0 }
    }

    private static func text(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(textLimit), as: UTF8.self)
        return bytes.count > textLimit ? text + " …" : text
    }

    private static func seconds(_ time: WallTime) -> Double {
        (Double(time.nanosecondsSince1970) / 1e6).rounded() / 1000
    }

    private static func text(of schedule: WorkloadSchedule) -> String {
        switch schedule {
        case .now: "once"
        case .after(let delay): "once, after \(text(of: delay))"
        case .at(let time): "once, at \(time)"
        case .every(let interval, _): "every \(text(of: interval))"
        case .cron(let cron): "\(cron.expression) (\(cron.timeZone))"
        case .onFileEvents: "after changes of files"
        }
    }

    private static func text(of duration: Duration) -> String {
        let units: [(Duration, String)] = [(.seconds(86_400), "d"), (.seconds(3600), "h"), (.seconds(60), "min")]
        for (unit, name) in units where duration >= unit && duration == unit * Int(duration / unit) {
            return "\(Int(duration / unit)) \(name)"
        }
        return "\((duration / .milliseconds(100)).rounded() / 10) s"
    }
}
