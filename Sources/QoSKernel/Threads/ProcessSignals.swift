internal import CQoSGuests
internal import CQoSShims
internal import Glibc

/// The signals of the process, and the runtime's lines on standard error (`Docs/Signals.md`).
package enum ProcessSignals {
    /// Returns whether the process ignores a signal, as `nohup` and a shell's `trap ''` make it (sigaction(2)).
    package static func isIgnored(_ signal: Int32) -> Bool { cqos_ignores_signal(signal) != 0 }

    /// Lets a signal through to the calling thread.
    package static func unblock(_ signal: Int32) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, signal)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}

/// Standard error, for rare lines that an operator has to see. No hot path writes here, and no line is repeated.
package enum StandardError {
    /// Writes a line in one call. A closed pipe loses the line, and raises no SIGPIPE. Any thread.
    ///
    /// - Parameter line: the text without a line break; a line break is appended.
    package static func write(_ line: String) {
        var text = line + "\n"
        text.withUTF8 { bytes in
            guard let first = bytes.baseAddress else { return }
            // No reader is left for a failure.
            _ = unsafe cqos_write_without_signal(STDERR_FILENO, first, bytes.count)
        }
    }
}
