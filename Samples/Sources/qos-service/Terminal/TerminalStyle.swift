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

    /// Returns the text that shows a line in place of the previous one.
    func render(_ line: String) -> String { render([line], replacing: 1) }

    /// Returns the text that shows lines in place of earlier ones. The cursor stays in the last line.
    ///
    /// The first word of each line, up to two spaces, is colored.
    ///
    /// - Parameters:
    ///   - lines: at least one.
    ///   - count: the number of lines that were shown before; 0 or 1 for one.
    func render(_ lines: [String], replacing count: Int) -> String {
        guard case .live(let columns, let isColored) = self else { return lines.map { $0 + "\n" }.joined() }
        var text = count > 1 ? "\u{1B}[\(count - 1)A" : ""
        for (index, line) in lines.enumerated() {
            if index > 0 { text += "\n" }
            let cut = TerminalText.cut(line, toColumns: columns - 1)
            text += "\r\u{1B}[2K"
            if isColored, let end = cut.range(of: "  ")?.lowerBound {
                text += "\u{1B}[1;36m" + cut[..<end] + "\u{1B}[0m" + cut[end...]
            } else {
                text += cut
            }
        }
        // What is left of a longer block.
        if count > lines.count { text += "\u{1B}[J" }
        return text
    }
}
