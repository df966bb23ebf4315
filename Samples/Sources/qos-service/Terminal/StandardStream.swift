internal import Glibc

/// A standard stream of the process, written to in such a way that nothing becomes of a failure.
///
/// The reader of a pipe may be gone, the disk of a file full, the stream closed: what the service shows is lost then,
/// and the service goes on.
enum StandardStream: Int32 {
    case output = 1
    case errors = 2

    /// Makes the process fit to write to streams that are closed: must run before anything opens a file.
    ///
    /// A closed standard stream is opened on `/dev/null`. Its number would else be that of the next file opened, for
    /// example the database, and progress would be written into that. A pipe without a reader is an error, no signal.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }

    /// Writes a text; the result says whether all of it arrived.
    @discardableResult
    func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // The stream does not block, and its reader is slow.
                var wait = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                guard unsafe poll(&wait, 1, 1000) > 0 else { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// Writes an error for the user to the standard error stream.
func complain(_ message: String) {
    StandardStream.errors.write("Error: \(message)\n")
}
