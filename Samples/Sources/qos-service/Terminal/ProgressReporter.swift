internal import Foundation
internal import Glibc
internal import Indexing
internal import Synchronization

/// Watches an index, keeps the rate, and shows both on the terminal.
struct ProgressReporter: Sendable {
    private static let tick = Duration.milliseconds(250)
    /// Ticks between two lines if the line cannot be redrawn.
    private static let plainTicks = 12

    let index: SearchIndex
    let meter: ThroughputMeter
    let isQuiet: Bool
    private let lastLine = LastLine()

    init(index: SearchIndex, meter: ThroughputMeter, isQuiet: Bool) {
        self.index = index
        self.meter = meter
        self.isQuiet = isQuiet
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
        while true {
            let status = index.status
            meter.observe(status.settled)
            if !isQuiet {
                let style = style
                if let notice = status.notice, notice != noticed {
                    noticed = notice
                    write(style == .plain ? notice + "\n" : "\r\u{1B}[2K" + notice + "\n")
                }
                let line = ProgressLine.text(status, rate: meter.rate)
                let isDue = style != .plain || status.activity != shownActivity || ticks % Self.plainTicks == 0
                if isDue {
                    shownActivity = status.activity
                    show(line, style)
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
        show(ProgressLine.text(index.status, rate: meter.rate), style)
        if style != .plain { write("\n") }
    }

    /// Writes a line if it differs from the previous one.
    private func show(_ line: String, _ style: TerminalStyle) {
        let isNew = lastLine.text.withLock { last in
            defer { last = line }
            return last != line
        }
        if isNew { write(style.render(line)) }
    }

    private func write(_ text: String) {
        StandardStream.errors.write(text)
    }
}

/// The line written last.
private final class LastLine: Sendable {
    let text = Mutex("")
}
