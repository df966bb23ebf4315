internal import Glibc

/// A standard stream of the process. Failed writes have no effect.
///
/// The reader of a pipe may be gone, the disk of a file full, or the stream closed. The service's output is then lost,
/// and the service goes on.
enum StandardStream: Int32 {
    case output = 1
    case errors = 2

    /// Prepares the process for writes to closed streams. It must run before any file is opened.
    ///
    /// A closed standard stream is opened on `/dev/null`. Otherwise the next opened file, for example the database,
    /// would get its number, and progress would be written into that file. A pipe without a reader causes an error, not
    /// a signal.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }

    /// Writes a text. Returns whether all of it arrived.
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
