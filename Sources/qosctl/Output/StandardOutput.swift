import Glibc

/// The standard output. A failed write is an error here; `print` ignores a full disk or a closed stream.
enum StandardOutput {
    /// Could not write all of the text.
    struct Failure: Error, CustomStringConvertible {
        let code: Int32

        var description: String { "the output cannot be written: \(unsafe String(cString: strerror(code)))" }
    }

    /// Checks that the stream is open. It must run before any file is opened, because the file would get the stream's
    /// number.
    ///
    /// - Throws: `Failure`. The command then ends with status 1.
    static func requireOpen() throws(Failure) {
        if fcntl(STDOUT_FILENO, F_GETFD) == -1 { throw Failure(code: errno) }
    }

    /// Returns a text as ``write(_:)`` writes it.
    static func shown(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t" ? "?" : scalar
                }))
    }

    /// Writes a text and a line feed. Other control characters appear as question marks: the text may have names that
    /// another user's process has chosen, and a terminal obeys them.
    ///
    /// - Throws: `Failure`. The command then ends with status 1.
    static func write(_ text: String) throws(Failure) {
        var rest = Array((shown(text) + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw Failure(code: errno)
            }
        }
    }
}
