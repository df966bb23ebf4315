internal import Glibc

/// A file whose first line is a passphrase.
public struct PassphraseFile: Sendable {
    /// The reason why it has none, with what to do.
    public struct Failure: Error, CustomStringConvertible {
        /// The text.
        public let description: String
    }

    /// The path of the file.
    public let path: String

    private static let longest = 64 << 10
    private let mayBePipe: Bool

    /// Names a file. It is read later.
    ///
    /// - Parameter mayBePipe: Whether a pipe counts, such as that of `<(…)`. It can be read only once.
    public init(_ path: String, mayBePipe: Bool = false) {
        self.path = path
        self.mayBePipe = mayBePipe
    }

    /// Returns the bytes of the first line, without its end.
    ///
    /// - Throws: ``Failure``.
    public func read() throws(Failure) -> [UInt8] {
        guard let data = start() else {
            throw Failure(
                description: "The passphrase file \(path) cannot be read. Check the path and its rights.")
        }
        let line = data.prefix { $0 != UInt8(ascii: "\n") }
        let bytes = Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        guard !bytes.isEmpty else {
            throw Failure(
                description: "The passphrase file \(path) has no passphrase in its first line. Write it there.")
        }
        return bytes
    }

    /// The bytes up to the first end of a line, or somewhat more; nil if they cannot be read.
    private func start() -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | (mayBePipe ? 0 : O_NONBLOCK))
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, mayBePipe || status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < Self.longest, !bytes.contains(UInt8(ascii: "\n")) {
            let count = unsafe Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}
