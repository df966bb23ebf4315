internal import Foundation
internal import Glibc
internal import Synchronization

/// One line on the standard error stream that tells how far a command is, each second.
///
/// On a terminal the line stays in its place; elsewhere each is a line of its own, and only if it was asked for. Threads
/// may share it.
package final class ProgressLine: Sendable {
    private static let pause = Duration.seconds(1)

    private let isShown: Bool
    private let isTerminal: Bool
    private let last = Mutex<ContinuousClock.Instant>(.now)
    private let isOpen = Mutex(false)

    /// Makes a line.
    ///
    /// - Parameter always: Whether it is shown also if the stream is no terminal.
    package init(always: Bool) {
        isTerminal = isatty(STDERR_FILENO) == 1
        isShown = always || isTerminal
    }

    /// Shows the text, if a second has passed since the last one.
    package func show(_ text: () -> String) {
        guard isShown else { return }
        let isDue = last.withLock { last in
            guard ContinuousClock.now - last >= Self.pause else { return false }
            last = .now
            return true
        }
        guard isDue else { return }
        guard isTerminal else { return complain(text()) }
        // Back to the begin, and nothing behind the text.
        complain("\r\(text())\u{1B}[K", terminator: "")
        isOpen.withLock { $0 = true }
    }

    /// Removes the line from a terminal, for other texts.
    package func clear() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { complain("\r\u{1B}[K", terminator: "") }
    }
}
