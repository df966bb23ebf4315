import ArgumentParser
import Foundation
import QoSCore
import QoSKernel

/// `qosctl activities`: prints the activities of a running process.
struct Activities: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the activities of a running process: their level, age, beginner and last note.",
        discussion: """
            It reads the memory that the process shows. The process does not notice, so it may hang or be stopped. See \
            Docs/Diagnostics.md for the columns.
            """)

    @Argument(help: "The id of the process.")
    var process: Int32

    @Flag(help: "Print JSON instead of text.")
    var json = false

    func validate() throws {
        guard process > 0 else { throw ValidationError("\(process) is no id of a process: use a positive number") }
    }

    func run() throws {
        try StandardOutput.requireOpen()
        let reader = try DiagnosticsReader(process: "\(process)", id: process)
        // Before the picture, so that each age in it is the least one.
        let time = MonotonicClock.nanoseconds()
        let report = ActivitiesReport(reader.picture(), process: UInt64(process), at: time)
        guard json else { return try StandardOutput.write(report.lines.joined(separator: "\n")) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardOutput.write(String(decoding: try encoder.encode(report), as: UTF8.self))
    }
}

/// The report of `qosctl activities`, in the form of its JSON.
struct ActivitiesReport: Encodable {
    /// An activity, and what it has noted last.
    struct Activity: Encodable {
        let activity: ShownActivity
        /// `nil` for an activity that began after the look.
        let ageSeconds: Double?
        /// Whether the work that began it is the present job of its worker.
        let beginnerIsRunning: Bool
        /// The last messages and breadcrumbs that the rings have, in the order of their times.
        let notes: [DiagnosticsPicture.Event]
    }

    let process: UInt64
    let activities: [Activity]
    /// The number of activities that found no place so far.
    let activitiesLost: UInt64

    /// - Parameter time: the time of the look, in monotonic nanoseconds.
    init(_ picture: DiagnosticsPicture, process: UInt64, at time: UInt64) {
        self.process = process
        activitiesLost = picture.activitiesLost
        activities = Self.activities(of: picture, at: time)
    }

    /// The number of notes that are kept for an activity.
    private static let notesOfActivity = 8

    static func activities(of picture: DiagnosticsPicture, at time: UInt64) -> [Activity] {
        let notes = Dictionary(grouping: picture.events.filter { $0.activity != nil }) { $0.activity ?? 0 }
        let running = Set(picture.schedulers.flatMap(\.workers).compactMap(\.work))
        return picture.activities.map { shown in
            Activity(
                activity: shown, ageSeconds: shown.begin > time ? nil : Double(time - shown.begin) / 1e9,
                beginnerIsRunning: running.contains("\(shown.work)"),
                notes: Array((notes[shown.id] ?? []).suffix(notesOfActivity)))
        }
    }
}

extension ActivitiesReport {
    /// The text form.
    var lines: [String] {
        var lines = ["process \(process), \(activities.count) \(activities.count == 1 ? "activity" : "activities")"]
        if !activities.isEmpty {
            lines.append("")
            lines += Columns.lines(
                ["ID", "PARENT", "LEVEL", "FOR", "BEGUN BY", "ORIGINATOR", "NAME", "LAST NOTE"], activities.map(\.cells)
            )
        }
        if activitiesLost > 0 { lines += ["", "\(activitiesLost) activities found no place since the start"] }
        return lines
    }
}

extension ActivitiesReport.Activity {
    fileprivate var cells: [String] {
        let originator = activity.originator.map { "process \($0.process) #\($0.activity)" }
        let note = notes.last.map { "\($0.kind) '\($0.text)'" }
        return [
            "\(activity.id)", activity.parent.map { "\($0)" } ?? "-", activity.level.map { "\($0)" } ?? "-",
            ageSeconds.map(Columns.duration) ?? "-", "\(activity.work)\(beginnerIsRunning ? " running" : "")",
            originator ?? "-", "'\(activity.name)'", note ?? "-",
        ]
    }
}
