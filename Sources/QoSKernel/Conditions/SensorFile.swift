internal import Glibc

/// Small files of sensors, which may be missing, broken or no files at all.
enum SensorFile {
    /// The longest text that is read, in bytes. The kernel's files are far shorter.
    private static let longest = 64 << 10

    /// Reads a text without the space around it.
    ///
    /// It never waits: a pipe or a device in the place of a file is refused.
    ///
    /// - Throws: the errors of open(2) and read(2), EAGAIN for a file that would block, EBADMSG for one that is no text
    ///   or too long.
    static func read(_ path: String) throws(KernelError) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw failure(errno, path) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure(errno, path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure(EBADMSG, path) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= longest {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(errno, path) }
            guard count > 0 else {
                guard let text = String(validating: bytes, as: UTF8.self) else { throw failure(EBADMSG, path) }
                return trimmed(text)
            }
            bytes += chunk.prefix(count)
        }
        throw failure(EBADMSG, path)
    }

    /// Reads a whole number.
    ///
    /// - Throws: as ``read(_:)``; EBADMSG for a text that is no number.
    static func number(_ path: String) throws(KernelError) -> Int64 {
        guard let number = Int64(try read(path)) else { throw failure(EBADMSG, path) }
        return number
    }

    /// Lists the names in a directory, sorted, with numbers in the order of their values.
    ///
    /// - Throws: the errors of opendir(3).
    static func names(in path: String) throws(KernelError) -> [String] {
        guard let directory = unsafe opendir(path) else {
            throw KernelError(.readDirectory, code: errno, subject: path)
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    private static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while let last = text.last, last.isWhitespace || last == "\0" { text.removeLast() }
        return String(text.drop(while: \.isWhitespace))
    }

    private static func failure(_ code: Int32, _ path: String) -> KernelError {
        KernelError(.readFile, code: code, subject: path)
    }
}

extension KernelError {
    /// A file whose content makes no sense.
    static func notSensible(_ path: String) -> KernelError {
        KernelError(.readFile, code: EBADMSG, subject: path)
    }
}
