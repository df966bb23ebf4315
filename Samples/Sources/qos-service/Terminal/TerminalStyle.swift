internal import Foundation
internal import Glibc

/// How progress is shown on the standard error stream.
enum TerminalStyle: Equatable {
    /// A line now and then, when it has changed.
    case plain
    /// One line that is drawn anew, as wide as the terminal at most.
    case live(columns: Int, isColored: Bool)

    /// The style that fits the stream and the environment: live on a terminal that is not dumb, colours unless
    /// `NO_COLOR` is set to anything but the empty text.
    init(isTerminal: Bool, columns: Int, environment: [String: String]) {
        guard isTerminal, environment["TERM", default: "dumb"] != "dumb" else {
            self = .plain
            return
        }
        self = .live(columns: max(20, columns), isColored: environment["NO_COLOR", default: ""].isEmpty)
    }

    /// Columns of the terminal behind the standard error stream, 80 when it does not say.
    static var columns: Int {
        var size = winsize()
        guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// What is written to show `line` in place of the one before.
    func render(_ line: String) -> String {
        switch self {
        case .plain:
            return line + "\n"
        case .live(let columns, let isColored):
            let cut = line.count < columns ? line : line.prefix(columns - 2) + "…"
            guard isColored, let end = cut.range(of: "  ")?.lowerBound else { return "\r\u{1B}[2K" + cut }
            return "\r\u{1B}[2K\u{1B}[1;36m" + cut[..<end] + "\u{1B}[0m" + cut[end...]
        }
    }
}
