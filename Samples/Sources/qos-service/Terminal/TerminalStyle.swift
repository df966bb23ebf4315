internal import Foundation
internal import Glibc

/// The style of progress on the standard error stream.
enum TerminalStyle: Equatable {
    /// A line now and then, when the text has changed.
    case plain
    /// One line that is redrawn, at most as wide as the terminal.
    case live(columns: Int, isColored: Bool)

    /// Chooses the style for the stream and the environment. A terminal that is not dumb gets live progress, in colours
    /// unless `NO_COLOR` has a text that is not empty.
    init(isTerminal: Bool, columns: Int, environment: [String: String]) {
        guard isTerminal, environment["TERM", default: "dumb"] != "dumb" else {
            self = .plain
            return
        }
        self = .live(columns: max(20, columns), isColored: environment["NO_COLOR", default: ""].isEmpty)
    }

    /// The columns of the terminal behind the standard error stream; 80 if it does not report them.
    static var columns: Int {
        var size = winsize()
        guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Returns the text that shows `line` in place of the previous one.
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
