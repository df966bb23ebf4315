internal import Backup
internal import CFileSystem
internal import Foundation
internal import Glibc
internal import SampleCommand

/// The passphrase of the user: from a file, a command, the environment, the terminal without an echo, or a pipe.
///
/// It is read before the process takes over signals. So Ctrl-C at the prompt ends the program at once.
enum Passphrase {
    /// The reason why there is none.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The place of a passphrase: that of the repository, or that of a new key.
    struct Source {
        var file: String?
        var command: String?
        /// The environment variable.
        var variable: String
        /// The options, for people.
        var options: String
        /// The text for the terminal.
        var prompt = "Passphrase: "
    }

    private static let longest = 64 << 10

    /// Returns the bytes.
    ///
    /// - Parameter confirming: Whether a terminal is asked twice.
    static func read(_ source: Source, confirming: Bool) throws -> [UInt8] {
        if let file = source.file { return try PassphraseFile(file, mayBePipe: true).read() }
        if let command = source.command { return try output(of: command) }
        if let value = unsafe getenv(source.variable) {
            return unsafe Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
        }
        guard isatty(STDIN_FILENO) == 1 else {
            let line = line(STDIN_FILENO)
            guard !line.isEmpty else {
                throw Missing(
                    description: "There is no passphrase. Give \(source.options), set \(source.variable), write it to "
                        + "the standard input, or run in a terminal.")
            }
            return line
        }
        let first = try ask(source.prompt)
        if confirming, try ask("Once more: ") != first {
            throw Missing(description: "The two passphrases differ. Run again.")
        }
        return first
    }

    /// Runs a command of the shell. Its first line is the passphrase, and its errors go to the terminal.
    private static func output(of command: String) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let text = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Missing(
                description:
                    "The command for the passphrase failed with status \(process.terminationStatus). Repair it: "
                    + command)
        }
        let line = Array(text.prefix { $0 != UInt8(ascii: "\n") })
        guard !line.isEmpty else {
            throw Missing(description: "The command for the passphrase wrote nothing. Repair it: \(command)")
        }
        return line
    }

    /// Reads one line of a descriptor, byte by byte: what follows belongs to others.
    private static func line(_ descriptor: Int32) -> [UInt8] {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < longest {
            let count = unsafe Glibc.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != UInt8(ascii: "\n") else { break }
            line.append(byte)
        }
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    // MARK: The terminal

    /// Asks without an echo. A signal gives the echo back, and then has its usual effect.
    private static func ask(_ prompt: String) throws -> [UInt8] {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] { unsafe sigaddset(&signals, signal) }
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let queue = unsafe signalfd(-1, &signals, Int32(O_CLOEXEC))
        defer { if queue >= 0 { close(queue) } }
        var saved = termios()
        let isTerminal = unsafe tcgetattr(STDIN_FILENO, &saved) == 0
        while true {
            complain(prompt, terminator: "")
            var silent = saved
            silent.c_lflag &= ~tcflag_t(ECHO)
            if isTerminal { unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) }
            let signal = waitForSignal(queue)
            let answer = signal == nil ? line(STDIN_FILENO) : []
            // At once: a terminal that is stopped, or that nobody reads, must not hold up the end.
            if isTerminal { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved) }
            if isWritable(STDERR_FILENO) { complain("") }
            guard let signal else {
                guard !answer.isEmpty else { throw Missing(description: "No passphrase was given. Run again.") }
                return answer
            }
            // Ends or stops the process here, unless its parent ignores the signal; also if the parent blocks it.
            kill(getpid(), signal)
            var one = sigset_t()
            unsafe sigemptyset(&one)
            unsafe sigaddset(&one, signal)
            unsafe pthread_sigmask(SIG_UNBLOCK, &one, nil)
            unsafe pthread_sigmask(SIG_BLOCK, &one, nil)
        }
    }

    /// Whether a write of a few bytes does not wait.
    private static func isWritable(_ descriptor: Int32) -> Bool {
        var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&place, 1, 0) == 1 && place.revents & Int16(POLLOUT) != 0
    }

    /// Waits for a line of the terminal, or for a signal. Returns its number; nil for a line.
    private static func waitForSignal(_ queue: Int32) -> Int32? {
        var places = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: queue, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = unsafe poll(&places, nfds_t(places.count), -1)
            if count < 0, errno == EINTR { continue }
            guard count > 0, places[1].revents != 0 else { return nil }
            // The first four bytes are the number, signalfd(2).
            var record = [UInt8](repeating: 0, count: 128)
            guard unsafe Glibc.read(queue, &record, record.count) == record.count else { return nil }
            return Int32(record[0])
        }
    }
}
