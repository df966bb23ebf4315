import ArgumentParser
import Foundation
import QoSCore
import QoSKernel

/// `qosctl postmortem`: prints what a process did last.
struct Postmortem: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the last events of a process that was killed, hangs or runs, and what its workers ran.",
        discussion: """
            Name the file that a killed process has left, as QOS_DIAGNOSTICS=FOLDER makes it, or the id of a process that \
            is still there.
            """)

    @Argument(help: "A file, or the id of a process.")
    var source: String

    @Option(help: "The number of events to print, from the end.")
    var last = 50

    @Flag(help: "Print JSON instead of text.")
    var json = false

    func validate() throws {
        guard last >= 0 else { throw ValidationError("\(last) events: use 0 or more") }
    }

    func run() throws {
        try StandardOutput.requireOpen()
        let report =
            if let id = Int32(source), id > 0 {
                PostmortemReport(
                    try DiagnosticsReader(process: "\(id)", id: id).picture(), last: last, process: UInt64(id),
                    isAlive: ThreadUsage.startOfProcess("\(id)") != nil)
            } else {
                try PostmortemReport(of: DiagnosticsReader(file: source), last: last)
            }
        guard json else { return try StandardOutput.write(report.lines.joined(separator: "\n")) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardOutput.write(String(decoding: try encoder.encode(report), as: UTF8.self))
    }
}

/// The report of `qosctl postmortem`, in the form of its JSON: the picture, with wall time.
struct PostmortemReport: Encodable {
    /// The id that was given, else the one that the process had for itself.
    let process: UInt64
    /// When the process last noted a time.
    let lastNoted: String
    /// Whether the process is there. A file says so by its lock, also where the process has another id, as in a container.
    let isAlive: Bool
    /// The activities that had begun and not ended, with what they noted last.
    let activities: [ActivitiesReport.Activity]
    let picture: DiagnosticsPicture

    /// Reads a file.
    init(of file: DiagnosticsReader, last: Int) {
        let picture = file.picture()
        let isOfThisStart =
            picture.started != 0 && ThreadUsage.startOfProcess("\(picture.process)") == picture.started
        self.init(picture, last: last, isAlive: file.isHeld || isOfThisStart)
    }

    init(_ picture: DiagnosticsPicture, last: Int, process: UInt64? = nil, isAlive: Bool) {
        var picture = picture
        activities = ActivitiesReport.activities(of: picture, at: picture.latest)
        picture.events = picture.events.suffix(last)
        self.process = process ?? picture.process
        lastNoted = Self.wallTime(picture.latest, picture)
        self.isAlive = isAlive
        self.picture = picture
    }

    fileprivate static func wallTime(_ time: UInt64, _ picture: DiagnosticsPicture) -> String {
        let (wall, overflows) = Int64(clamping: time).addingReportingOverflow(picture.wallOffset)
        let seconds = Double(wall) / 1e9
        // Beyond it the formatter has no year of four digits.
        guard !overflows, (0..<253_402_300_000).contains(seconds) else { return "unknown" }
        return Date(timeIntervalSince1970: seconds)
            .formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true))
    }
}

extension PostmortemReport {
    /// The text form.
    var lines: [String] {
        var lines = [
            "process \(process), \(isAlive ? "still there" : "gone"), last noted \(lastNoted)"
        ]
        for scheduler in picture.schedulers {
            lines += ["", "scheduler \(scheduler.number)\(scheduler.isOpen ? "" : ", ended in order")"]
            lines += Columns.lines(
                ["CLASS", "WORKERS", "RUNNING", "BLOCKED", "QUEUED", "JOBS", "PROMOTED", "MOVED IN", "STALLS"],
                scheduler.classes.map { made in
                    [
                        "\(made.qosClass)", "\(made.workers)", "\(made.running)", "\(made.blocked)", "\(made.queued)",
                        "\(made.jobsEnded)", "\(made.raisedByEffects &+ made.raisedByFence)", "\(made.movedIn)",
                        "\(made.stalls)",
                    ]
                })
            let running = scheduler.workers.filter(\.isRunning)
            if !running.isEmpty { lines += ["", "in a job:"] + running.map { text($0) } }
        }
        if !activities.isEmpty { lines += ["", "activities"] + activities.flatMap { text($0) } }
        if picture.activitiesLost > 0 { lines.append("\(picture.activitiesLost) activities found no place") }
        lines += ["", picture.events.isEmpty ? "no events" : "events"]
        lines += picture.events.map { event in
            let classes = [event.from, event.to].compactMap { $0.map { "\($0)" } }.joined(separator: " → ")
            return "  \(Self.wallTime(event.time, picture))  \(event.kind)  \(event.work)  \(classes)  \(event.text)"
                + (event.activity.map { " in activity \($0)" } ?? "")
        }
        if picture.stringsLost > 0 { lines.append("\(picture.stringsLost) labels found no room") }
        return lines
    }

    private func text(_ made: ActivitiesReport.Activity) -> [String] {
        let shown = made.activity
        let head: [String?] = [
            "\(shown.id) '\(shown.name)'", "since \(Self.wallTime(shown.begin, picture))",
            shown.parent.map { "in \($0)" }, shown.level.map { "\($0)" },
            "begun by \(shown.work)" + (made.beginnerIsRunning ? ", which ran" : ""),
            shown.originator.map { "for activity \($0.activity) of process \($0.process)" },
        ]
        return ["  " + head.compactMap { $0 }.joined(separator: "  ")]
            + made.notes.map { "    \(Self.wallTime($0.time, picture))  \($0.kind)  \($0.text)" }
    }

    private func text(_ worker: DiagnosticsPicture.Worker) -> String {
        let label = worker.label.map { "'\($0)'" }
        let since = worker.seenAt.map { "since \(Self.wallTime($0, picture)) or earlier" } ?? "begun a moment before"
        let promoted = worker.promotedTo.map { "promoted to \($0)" }
        let blocked = worker.blocked.map { "blocked, \($0)" }
        return "  "
            + [worker.name, worker.kind, label, worker.work, since, promoted, blocked].compactMap { $0 }
            .joined(separator: "  ")
    }
}
