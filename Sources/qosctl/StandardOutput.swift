import Glibc

/// The standard output, written to so that a failure is noticed: `print` says nothing of a full disk or a closed stream.
enum StandardOutput {
    /// Could not write all of the text.
    struct Failure: Error, CustomStringConvertible {
        let code: Int32

        var description: String { "the output cannot be written: \(unsafe String(cString: strerror(code)))" }
    }

    /// Checks that the stream is open: must run before anything opens a file, which would get the stream's number.
    ///
    /// - Throws: `Failure`, with which the command ends with 1.
    static func requireOpen() throws(Failure) {
        if fcntl(STDOUT_FILENO, F_GETFD) == -1 { throw Failure(code: errno) }
    }

    /// Writes a text and a line feed.
    ///
    /// - Throws: `Failure`, with which the command ends with 1.
    static func write(_ text: String) throws(Failure) {
        var rest = Array((text + "\n").utf8)[...]
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
