internal import Glibc

/// Small files of `/proc` and `/sys`, whole.
package enum KernelFile {
    /// Reads a file in one go; files of the kernel have no size, so it is read to its end.
    ///
    /// - Parameters:
    ///   - call: what a failure is reported as.
    ///   - subject: what a failure is reported about; `nil` is the path.
    ///   - missing: the error number for a file that does not exist, ESRCH where that means an ended thread.
    /// - Throws: the errors of open(2) and read(2).
    package static func read(
        _ path: String, as call: KernelCall = .readFile, subject: String? = nil, whenMissing missing: Int32 = ENOENT
    ) throws(KernelError) -> String {
        // A pipe in the place of the file must not block, as one in a made tree may.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw KernelError(call, code: errno == ENOENT ? missing : errno, subject: subject ?? path)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw KernelError(call, code: errno, subject: subject ?? path) }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether there is a file or directory, readable or not.
    static func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }

    /// Writes a value in one `write`, as the kernel's files want it.
    ///
    /// - Parameters:
    ///   - call: what a failure is reported as.
    ///   - subject: what a failure is reported about.
    ///   - missing: the error number for a file that does not exist, ESRCH where that means an ended thread.
    /// - Throws: the errors of open(2) and write(2).
    package static func write(
        _ text: String, to path: String, as call: KernelCall, subject: String, whenMissing missing: Int32 = ENOENT
    ) throws(KernelError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw KernelError(call, code: errno == ENOENT ? missing : errno, subject: subject)
        }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        while unsafe Glibc.write(descriptor, bytes, bytes.count) < 0 {
            guard errno == EINTR else { throw KernelError(call, code: errno, subject: subject) }
        }
    }
}
