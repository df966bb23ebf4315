internal import Backup
internal import Foundation
internal import Glibc

/// The passphrase of the user: from a file, from the environment, or from the terminal without an echo.
enum Passphrase {
    /// The reason why there is none.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    private static let variable = "QOS_BACKUP_PASSWORD"

    /// Returns the bytes.
    ///
    /// - Parameters:
    ///   - file: Its first line is the passphrase.
    ///   - confirming: Whether a terminal is asked twice.
    static func read(file: String?, confirming: Bool) throws -> [UInt8] {
        if let file { return try PassphraseFile(file).read() }
        if let text = ProcessInfo.processInfo.environment[variable] { return Array(text.utf8) }
        guard isatty(STDIN_FILENO) == 1 else {
            throw Missing(
                description: "There is no passphrase. Give --password-file, set \(variable), or run in a terminal.")
        }
        let first = try ask("Passphrase: ")
        if confirming, try ask("Once more: ") != first {
            throw Missing(description: "The two passphrases differ. Run again.")
        }
        return first
    }

    private static func ask(_ prompt: String) throws -> [UInt8] {
        try? FileHandle.standardError.write(contentsOf: Data(prompt.utf8))
        var saved = termios()
        let isTerminal = unsafe tcgetattr(STDIN_FILENO, &saved) == 0
        var silent = saved
        silent.c_lflag &= ~tcflag_t(ECHO)
        if isTerminal { unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) }
        defer {
            if isTerminal { unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved) }
            try? FileHandle.standardError.write(contentsOf: Data("\n".utf8))
        }
        guard let line = readLine() else { throw Missing(description: "No passphrase was given. Run again.") }
        return Array(line.utf8)
    }
}
