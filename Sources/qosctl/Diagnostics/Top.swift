import ArgumentParser
import Foundation
import QoSCore
import QoSKernel

/// `qosctl top`: prints what the workers of a running process do.
struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Prints the classes of a running process, and what each worker runs, for how long, and who promoted it.",
        discussion: """
            It reads the memory that the process shows, and /proc. The process does not notice, so it may hang or be \
            stopped. See Docs/Diagnostics.md for the columns.
            """)

    @Argument(help: "The id of the process.")
    var process: Int32

    @Option(help: "The seconds over which rates and shares are measured.")
    var interval = 0.5

    @Option(help: "How often to print; 0 prints until the tool is interrupted.")
    var count = 1

    @Flag(help: "Print JSON instead of text, one object for each time.")
    var json = false

    func validate() throws {
        guard process > 0 else { throw ValidationError("\(process) is no id of a process: use a positive number") }
        guard interval >= 0.01, interval <= 86_400 else {
            throw ValidationError("an interval of \(interval) s: use 0.01 to 86400")
        }
        guard count >= 0 else { throw ValidationError("a count of \(count): use 0 or more") }
    }

    func run() throws {
        try StandardOutput.requireOpen()
        var before = try TopReport.Reading(of: process)
        var printed = 0
        while count == 0 || printed < count {
            Thread.sleep(forTimeInterval: interval)
            let now = try TopReport.Reading(of: process)
            guard !now.threads.isEmpty else { throw DiagnosticsReader.Problem.noProcess(process) }
            let report = TopReport(from: before, to: now)
            if json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
                try StandardOutput.write(String(decoding: try encoder.encode(report), as: UTF8.self))
            } else {
                try StandardOutput.write((printed > 0 ? [""] : []).joined() + report.lines.joined(separator: "\n"))
            }
            printed += 1
            before = now
        }
    }
}

/// The report of `qosctl top`, in the form of its JSON.
struct TopReport: Encodable {
    /// What is read at one moment.
    struct Reading {
        /// The id by which the reader knows the process.
        let process: UInt64
        let time: UInt64
        let picture: DiagnosticsPicture
        /// By the ids that they have for the process.
        let threads: [Int32: ThreadUsage]

        /// Opens the memory anew: after exec(2) the process has another one, and so has a new process with the same id.
        init(of process: Int32) throws(DiagnosticsReader.Problem) {
            let reader = try DiagnosticsReader(process: "\(process)", id: process)
            self.process = UInt64(process)
            threads = ThreadUsage.all(of: "\(process)")
            // Before the picture, so that each duration in it is the least one.
            time = MonotonicClock.nanoseconds()
            picture = reader.picture(withEvents: false)
        }

        init(time: UInt64, picture: DiagnosticsPicture, threads: [Int32: ThreadUsage]) {
            process = picture.process
            (self.time, self.picture, self.threads) = (time, picture, threads)
        }
    }

    /// A class, with its use between the two readings.
    struct Class: Encodable {
        let qosClass: QoSClass
        let workers: Int
        let width: UInt64
        let widthLimit: UInt64?
        let running: Int
        let blocked: Int
        let queued: UInt64
        let oldestWaitSeconds: Double?
        let jobsPerSecond: Double
        let promoted: UInt64
        let movedIn: UInt64
        let stalls: UInt64
        let processors: Double
        /// The processors for which its threads waited.
        let delay: Double?
    }

    /// A worker, and the thread that it has.
    struct Worker: Encodable {
        let name: String
        let thread: Int32
        /// As the kernel has it: running, sleeping, stopped …
        let state: String
        let isRunning: Bool
        let work: String?
        let kind: String?
        let label: String?
        /// At least so long; `nil` for a job that began after the loop's latest look.
        let runsForSeconds: Double?
        let promotedTo: QoSClass?
        let promotionReason: String?
        let promotedBy: String?
        let blocked: String?
        let processors: Double
        let delay: Double?
    }

    struct Scheduler: Encodable {
        let number: Int
        let processors: UInt64
        let loopLookedSecondsAgo: Double?
        let classes: [Class]
        let workers: [Worker]
    }

    let process: UInt64
    let upSeconds: Double
    let isStopped: Bool
    let schedulers: [Scheduler]
    /// The processors that all threads of the process used.
    let processors: Double
    /// The number of labels for which the process had no room.
    let labelsLost: UInt64

    init(from before: Reading, to now: Reading) {
        process = now.process
        labelsLost = now.picture.stringsLost
        upSeconds = Self.seconds(now.time, since: now.picture.madeAt) ?? 0
        isStopped = !now.threads.isEmpty && now.threads.values.allSatisfy { $0.state == "T" || $0.state == "t" }
        let span = max(1, Double(now.time &- before.time))
        let use = Use(before: before.threads, now: now.threads, span: span)
        processors = now.threads.keys.reduce(0) { $0 + use.processors($1) }
        schedulers = now.picture.schedulers.filter(\.isOpen).map { scheduler in
            let earlier = before.picture.schedulers.first {
                $0.number == scheduler.number && $0.began == scheduler.began
            }
            return Scheduler(
                number: scheduler.number, processors: scheduler.processors,
                loopLookedSecondsAgo: scheduler.lookedAt == 0 ? nil : Self.seconds(now.time, since: scheduler.lookedAt),
                classes: scheduler.classes.map { made in
                    Self.made(
                        made, earlier?.classes.first { $0.qosClass == made.qosClass }, scheduler, use, span, now.time)
                },
                workers: scheduler.workers.filter { $0.thread != 0 }.map { Self.made($0, use, now) })
        }
    }

    /// The use of threads between two readings.
    private struct Use {
        let before: [Int32: ThreadUsage]
        let now: [Int32: ThreadUsage]
        let span: Double

        func processors(_ thread: Int32) -> Double {
            guard let now = now[thread] else { return 0 }
            let ran = now.ran &- min(now.ran, before[thread]?.ran ?? now.ran)
            return Double(ran) / span
        }

        func delay(_ thread: Int32) -> Double? {
            guard let waited = now[thread]?.waited else { return nil }
            let earlier = before[thread].map { $0.waited ?? waited } ?? waited
            return Double(waited &- min(waited, earlier)) / span
        }
    }

    private static func made(
        _ made: DiagnosticsPicture.Class, _ earlier: DiagnosticsPicture.Class?,
        _ scheduler: DiagnosticsPicture.Scheduler,
        _ use: Use, _ span: Double, _ now: UInt64
    ) -> Class {
        let threads = scheduler.workers.filter { $0.qosClass == made.qosClass && $0.thread != 0 }.map(\.thread)
        let delays = threads.compactMap { use.delay($0) }
        let jobs = made.jobsEnded &- min(made.jobsEnded, earlier?.jobsEnded ?? made.jobsEnded)
        return Class(
            qosClass: made.qosClass, workers: made.workers, width: made.width, widthLimit: made.widthLimit,
            running: made.running, blocked: made.blocked, queued: made.queued,
            oldestWaitSeconds: made.queued == 0 ? nil : made.oldestSince.flatMap { seconds(now, since: $0) },
            jobsPerSecond: Double(jobs) * 1e9 / span, promoted: made.raisedByEffects &+ made.raisedByFence,
            movedIn: made.movedIn, stalls: made.stalls, processors: threads.reduce(0) { $0 + use.processors($1) },
            delay: delays.isEmpty ? nil : delays.reduce(0, +))
    }

    private static func made(_ worker: DiagnosticsPicture.Worker, _ use: Use, _ now: Reading) -> Worker {
        Worker(
            name: worker.name, thread: use.now[worker.thread]?.id ?? worker.thread,
            state: state(use.now[worker.thread]?.state), isRunning: worker.isRunning, work: worker.work,
            kind: worker.kind, label: worker.label,
            runsForSeconds: worker.seenAt.flatMap { seconds(now.time, since: $0) }, promotedTo: worker.promotedTo,
            promotionReason: worker.promotionReason, promotedBy: worker.promotedBy, blocked: worker.blocked,
            processors: use.processors(worker.thread), delay: use.delay(worker.thread))
    }

    private static func state(_ letter: String?) -> String {
        switch letter {
        case "R": "running"
        case "S": "sleeping"
        case "D": "in I/O"
        case "T", "t": "stopped"
        case nil: "ended"
        case let other?: other
        }
    }

    /// `nil` for a time to come, as in a damaged picture.
    private static func seconds(_ now: UInt64, since time: UInt64) -> Double? {
        time == 0 || time > now ? nil : Double(now - time) / 1e9
    }
}

extension TopReport {
    /// The text form.
    var lines: [String] {
        var lines = [
            "process \(process), scheduling for \(Columns.duration(upSeconds)), \(Columns.number(processors)) processors"
                + (isStopped ? ", STOPPED by a signal" : "")
        ]
        if schedulers.isEmpty { lines.append("it has no scheduler at this moment") }
        for scheduler in schedulers {
            let looked = scheduler.loopLookedSecondsAgo.map { ", the loop looked \(Columns.duration($0)) ago" } ?? ""
            lines += ["", "scheduler \(scheduler.number): \(scheduler.processors) processors\(looked)"]
            lines += Columns.lines(
                [
                    "CLASS", "WORKERS", "RUNNING", "BLOCKED", "QUEUED", "OLDEST", "JOBS/S", "PROMOTED", "MOVED IN",
                    "STALLS", "CPU", "DELAY",
                ], scheduler.classes.map(\.cells))
            if !scheduler.workers.isEmpty {
                lines.append("")
                lines += Columns.lines(
                    ["WORKER", "THREAD", "STATE", "FOR", "CPU", "DELAY", "WORK"], scheduler.workers.map(\.cells))
            }
        }
        if labelsLost > 0 { lines += ["", "\(labelsLost) labels found no room"] }
        return lines
    }
}

extension TopReport.Class {
    fileprivate var cells: [String] {
        let limit = widthLimit.map { $0 < width ? " limited to \($0)" : "" } ?? ""
        return [
            "\(qosClass)", "\(workers)/\(width)\(limit)", "\(running)", "\(blocked)", "\(queued)",
            oldestWaitSeconds.map(Columns.duration) ?? "-", Columns.number(jobsPerSecond), "\(promoted)", "\(movedIn)",
            "\(stalls)", Columns.number(processors), delay.map(Columns.number) ?? "?",
        ]
    }
}

extension TopReport.Worker {
    fileprivate var cells: [String] {
        var text = isRunning ? [label.map { "'\($0)'" }, kind, work].compactMap { $0 } : ["idle"]
        if let promotedTo {
            let reason = promotionReason ?? "unknown"
            text.append("promoted to \(promotedTo): \(reason)" + (promotedBy.map { " by \($0)" } ?? ""))
        }
        if let blocked { text.append("blocked, \(blocked)") }
        return [
            name, "\(thread)", state, isRunning ? runsForSeconds.map(Columns.duration) ?? "<" : "-",
            Columns.number(processors), delay.map(Columns.number) ?? "?", text.joined(separator: " "),
        ]
    }
}

/// Tables of text.
enum Columns {
    /// Pads the cells of all rows, except for the last column.
    static func lines(_ head: [String], _ rows: [[String]]) -> [String] {
        let all = [head] + rows
        let widths = head.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            row.indices.map { column in
                column == row.count - 1
                    ? row[column] : row[column] + String(repeating: " ", count: widths[column] - row[column].count)
            }.joined(separator: "  ")
        }
    }

    /// A number with two digits behind the point, fewer if it is large.
    static func number(_ value: Double) -> String {
        String(format: abs(value) < 10 ? "%.2f" : "%.0f", value)
    }

    /// A duration with its unit.
    static func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.001: String(format: "%.0f µs", seconds * 1e6)
        case ..<1: String(format: "%.1f ms", seconds * 1e3)
        case ..<120: String(format: "%.1f s", seconds)
        case ..<7200: String(format: "%.0f min", seconds / 60)
        default: String(format: "%.1f h", seconds / 3600)
        }
    }
}
