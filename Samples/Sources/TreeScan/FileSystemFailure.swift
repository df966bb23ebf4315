internal import Glibc

/// A failed system call on one entry of a tree. A value, because the walk or the pass goes on.
public struct FileSystemFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The code for an entry that is no regular file.
    static let notAFile = ENODEV

    /// The entry. Everything below it is unknown too.
    public let path: RelativePath

    /// The failed operation, for example `open`.
    public let operation: String

    /// The error number, errno(3).
    public let code: Int32

    /// Makes a failure from its parts.
    public init(path: RelativePath, operation: String, code: Int32) {
        self.path = path
        self.operation = operation
        self.code = code
    }

    /// Whether the entry is gone, or another is in its place: ENOENT, ENOTDIR, ELOOP, ESTALE.
    public var isVanished: Bool {
        [ENOENT, ENOTDIR, ELOOP, ESTALE].contains(code)
    }

    /// Whether permission is missing: EACCES, EPERM.
    public var isDenied: Bool {
        code == EACCES || code == EPERM
    }

    /// Whether the process or the machine has run out of a resource. This says nothing about the file: EMFILE, ENFILE,
    /// ENOMEM, ENOBUFS, EAGAIN.
    public var isExhaustion: Bool {
        [EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN].contains(code)
    }

    /// One line with operation, path and reason.
    public var description: String {
        let place = path == .root ? "the folder itself" : path.display
        return "\(operation) \(place): \(SystemError.text(code))"
    }
}
