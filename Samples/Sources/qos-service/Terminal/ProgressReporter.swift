internal import Foundation
internal import Glibc
internal import Indexing

/// Watches an index, keeps the rate, and shows both on the terminal.
struct ProgressReporter: Sendable {
    private static let tick = Duration.milliseconds(250)
    /// Ticks between two lines where the line cannot be drawn anew.
    private static let plainTicks = 12

    let index: SearchIndex
    let meter: ThroughputMeter
    let isQuiet: Bool

    /// Writes a line of its own to the standard output, where programs may look for it.
    func announce(_ line: String) {
        guard !isQuiet else { return }
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Reports until it is cancelled.
    func run() async throws {
        var shown = ""
        var shownActivity: IndexActivity?
        var noticed: String?
        var ticks = 0
        defer { finish(after: shown) }
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
                if line != shown, isDue {
                    shown = line
                    shownActivity = status.activity
                    write(style.render(line))
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

    /// Shows how things stand at the end, and leaves the cursor on a line of its own.
    private func finish(after shown: String) {
        guard !isQuiet else { return }
        let style = style
        let line = ProgressLine.text(index.status, rate: meter.rate)
        if line != shown { write(style.render(line)) }
        if style != .plain { write("\n") }
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
