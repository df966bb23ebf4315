internal import Glibc

/// A call for a file that failed: the call, the file, the reason and the remedy.
public struct FileError: Error, Sendable, Hashable {
    /// The kind of a failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// No such file, or no such directory on the way to it.
        case notFound
        /// The name is taken.
        case alreadyExists
        /// The user may not do that.
        case permissionDenied
        /// A directory, a pipe, a socket or a device instead of a regular file, or the other way round.
        case wrongKind
        /// The file system is full.
        case noSpace
        /// The quota of the user is used up.
        case quotaExceeded
        /// The file would exceed the largest size of the file system or of the process.
        case tooLarge
        /// The file system does not allow changes.
        case readOnlyFileSystem
        /// The process or the system has too many open files.
        case tooManyOpenFiles
        /// The device failed. Data that was written before may be lost.
        case deviceFailure
        /// The file system was not ready, again and again.
        case unavailable
        /// The file is closed already.
        case closed
        /// An argument that makes no sense.
        case invalidArgument
        /// Another failure: see ``FileError/number``.
        case other
    }

    /// The kind of the failure.
    public let code: Code

    /// The path of the file, as it was given.
    public let path: String

    /// The call, as the manual names it: `open`, `write`.
    public let call: String

    /// The error number (errno(3)); 0 for a failure without one.
    public let number: Int32

    /// The number of bytes that a write or a copy had written before it failed.
    public internal(set) var bytesWritten: Int64 = 0

    /// The particulars, for people; empty if the code says it all.
    let detail: String

    /// - Parameter number: the error number; the sign is ignored.
    init(_ call: String, _ number: Int32, path: String, code: Code? = nil, detail: String = "") {
        self.code = code ?? Code(number: abs(number))
        self.path = path
        self.call = call
        self.number = abs(number)
        self.detail = detail
    }
}

extension FileError: CustomStringConvertible {
    /// The failure and its remedy: `open failed for /data/x: no such file or directory. Check the path …`.
    public var description: String {
        let reason = detail.isEmpty ? code.reason(number) : detail
        let written = bytesWritten > 0 ? " after \(bytesWritten) bytes" : ""
        return "\(call) failed for \(path)\(written): \(reason). \(code.remedy)"
    }
}

extension FileError {
    /// Checks a path that goes to the kernel as a C string. A NUL byte would end it, and another file would be meant.
    ///
    /// - Throws: ``Code/invalidArgument``.
    static func check(path: String, for call: String) throws(FileError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw FileError(call, EINVAL, path: path, detail: "the path is empty or has a NUL byte")
        }
    }
}
