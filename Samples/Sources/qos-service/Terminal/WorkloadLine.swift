internal import QoSCore
internal import QoSWorkloads

/// The line of one workload in the terminal: class, bar, rate, time left, state with its reason. A pure value.
///
/// ```
/// [background → utility]  indexing   ████████······  57 %  812 files/s  3 min left  running
/// ```
struct WorkloadLine: Equatable {
    /// The columns of a bar.
    private static let barWidth = 14

    let item: WorkloadItemID
    /// The requested class, and the effective one if it is another one.
    let badge: String
    let name: String
    /// The part that is done, 0…1; nil if it is not known.
    let share: Double?
    /// The rate, with its unit; nil if nothing moves.
    let rate: String?
    /// The time left; nil if it is not known.
    let timeLeft: String?
    /// The state, and the reason unless the item runs.
    let state: String

    /// Makes the line of an item.
    ///
    /// - Parameters:
    ///   - item: the item.
    ///   - rate: what it completes per second.
    ///   - pauses: the paused workloads with their reasons.
    init(_ item: WorkloadSnapshot.Item, rate: Double, pauses: [WorkloadName: String] = [:]) {
        let record = item.record
        self.item = item.id
        let (requested, effective) = (record.request.level.qosClass, record.level.qosClass)
        badge = requested == effective ? "[\(requested)]" : "[\(requested) → \(effective)]"
        name = record.request.label.map { "\(record.request.name) (\($0))" } ?? "\(record.request.name)"
        let isRunning = record.state == .running && item.pause == nil
        let progress = record.state.isEnded || record.state == .scheduled ? nil : record.progress
        let total = progress?.total.map(Double.init)
        let completed = Double(progress?.completed ?? 0)
        share = total.flatMap { $0 > 0 ? min(1, max(0, completed / $0)) : nil }
        if isRunning, rate > 0, let progress {
            self.rate = "\(Self.number(rate)) \(progress.unit.rawValue)/s"
            timeLeft = total.flatMap { $0 > completed ? Self.text(($0 - completed) / rate) + " left" : nil }
        } else {
            (self.rate, timeLeft) = (nil, nil)
        }
        let pause = record.state.isEnded ? nil : pauses[record.request.name]
        let reason = item.pause ?? (pause.map { "paused: \($0)" } ?? record.life.reason)
        state = isRunning ? "running" : "\(item.pause == nil ? record.state.rawValue : "deferred"): \(reason)"
    }

    /// The line for a terminal that redraws it. Control characters of names and reasons are escaped.
    func live(columns: Int) -> String {
        let parts = [
            badge, name, share.map(Self.bar(_:)) ?? "", share.map { "\(Int($0 * 100)) %" } ?? "", rate ?? "",
            timeLeft ?? "", state,
        ]
        return TerminalText.cut(
            TerminalText.escaped(parts.filter { !$0.isEmpty }.joined(separator: "  ")), toColumns: columns)
    }

    /// The line for a file or a pipe: without a bar, and whole.
    var plain: String {
        let parts = [badge, name, share.map { "\(Int($0 * 100)) %" } ?? "", rate ?? "", timeLeft ?? "", state]
        return TerminalText.escaped(parts.filter { !$0.isEmpty }.joined(separator: "  "))
    }

    private static func bar(_ share: Double) -> String {
        let full = Int(share * Double(barWidth))
        return String(repeating: "█", count: full) + String(repeating: "·", count: barWidth - full)
    }

    private static func number(_ value: Double) -> String {
        value < 10 ? "\((value * 10).rounded() / 10)" : "\(Int(min(value, 1e15).rounded()))"
    }

    private static func text(_ seconds: Double) -> String {
        switch seconds {
        case ..<1: "less than 1 s"
        case ..<120: "\(Int(seconds.rounded())) s"
        case ..<7200: "\(Int((seconds / 60).rounded())) min"
        case ..<172_800: "\(Int((seconds / 3600).rounded())) h"
        default: "\(Int(min(seconds / 86_400, 1e6).rounded())) d"
        }
    }
}
