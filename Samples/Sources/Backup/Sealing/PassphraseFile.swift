internal import Foundation

/// A file whose first line is a passphrase.
public struct PassphraseFile: Sendable {
    /// The reason why it has none, with what to do.
    public struct Failure: Error, CustomStringConvertible {
        /// The text.
        public let description: String
    }

    /// The path of the file.
    public let path: String

    /// Names a file. It is read later.
    public init(_ path: String) {
        self.path = path
    }

    /// Returns the bytes of the first line, without its end.
    ///
    /// - Throws: ``Failure``.
    public func read() throws(Failure) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
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
}
