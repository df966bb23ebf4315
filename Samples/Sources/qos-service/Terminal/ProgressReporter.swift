internal import Foundation
internal import Glibc
internal import Indexing
internal import QoSWorkloads
internal import Synchronization

/// Watches an index, keeps the rate, and shows both on the terminal.
struct ProgressReporter: Sendable {
    private static let tick = Duration.milliseconds(250)
    /// Ticks between two lines if the line cannot be redrawn.
    private static let plainTicks = 12
    /// Ticks between two looks at the workloads.
    private static let workTicks = 4

    let index: SearchIndex
    let meter: ThroughputMeter
    let isQuiet: Bool
    /// Returns the workloads; nil if their store fails.
    private let workloads: @Sendable () async -> WorkloadSnapshot?
    private let last = LastLines()

    init(
        index: SearchIndex,
        meter: ThroughputMeter,
        isQuiet: Bool,
        workloads: @escaping @Sendable () async -> WorkloadSnapshot?
    ) {
        self.index = index
        self.meter = meter
        self.isQuiet = isQuiet
        self.workloads = workloads
    }

    /// Writes a separate line to the standard output, where programs may look for it.
    func announce(_ line: String) {
        guard !isQuiet else { return }
        StandardStream.output.write(line + "\n")
    }

    /// Reports until it is cancelled.
    func run() async throws {
        var shownActivity: IndexActivity?
        var noticed: String?
        var ticks = 0
        var work = WorkloadLines()
        while true {
            let status = index.status
            meter.observe(status.settled)
            if !isQuiet {
                let style = style
                if let notice = status.notice, notice != noticed {
                    noticed = notice
                    write(style == .plain ? notice + "\n" : last.clearing() + notice + "\n")
                }
                let isDue = style != .plain || status.activity != shownActivity || ticks % Self.plainTicks == 0
                if isDue {
                    // A look into the store costs more than one at the index.
                    if style == .plain || ticks % Self.workTicks == 0, let snapshot = await workloads() {
                        work.observe(snapshot, at: .now)
                    }
                    shownActivity = status.activity
                    show(ProgressLine.text(status, rate: meter.rate), work.lines, style)
                }
            }
            ticks += 1
            try await Task.sleep(for: Self.tick, tolerance: Self.tick / 5)
        }
    }

    private var style: TerminalStyle {
        TerminalStyle(
            isTerminal: isatty(STDERR_FILENO) == 1,
            columns: TerminalStyle.columns,
            environment: ProcessInfo.processInfo.environment
        )
    }

    /// Shows the final state, and leaves the cursor on a line of its own.
    func finish() {
        guard !isQuiet else { return }
        show(ProgressLine.text(index.status, rate: meter.rate, isLast: true), [], style)
        if style != .plain { write("\n") }
    }

    /// Writes the lines that differ from the previous ones; to a terminal all of them.
    private func show(_ first: String, _ work: [WorkloadLine], _ style: TerminalStyle) {
        switch style {
        case .plain:
            let new = last.change(to: [first] + work.map(\.plain)).new
            if !new.isEmpty { write(style.render(new, replacing: 0)) }
        case .live(let columns, _):
            let lines = [TerminalText.escaped(first)] + work.map { $0.live(columns: columns - 1) }
            let (new, count) = last.change(to: lines)
            if !new.isEmpty || count != lines.count { write(style.render(lines, replacing: count)) }
        }
    }

    private func write(_ text: String) {
        StandardStream.errors.write(text)
    }
}

/// The lines written last.
private final class LastLines: Sendable {
    private let lines = Mutex<[String]>([])

    /// Notes new lines.
    ///
    /// - Returns: those that were not there, and the number of the earlier ones.
    func change(to new: [String]) -> (new: [String], count: Int) {
        lines.withLock { lines in
            defer { lines = new }
            return (new.filter { !lines.contains($0) }, lines.count)
        }
    }

    /// Forgets the lines of a terminal.
    ///
    /// - Returns: the text that removes them.
    func clearing() -> String {
        lines.withLock { lines in
            defer { lines = [] }
            return (lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : "") + "\r\u{1B}[J"
        }
    }
}
