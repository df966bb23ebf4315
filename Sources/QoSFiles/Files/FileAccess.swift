internal import Glibc

/// The ways in which a file is opened.
public struct FileAccess: Sendable, Hashable {
    /// The treatment of a file that does not exist, or exists.
    public enum Creation: Sendable, Hashable {
        /// The file must exist.
        case never
        /// Creates the file if it does not exist.
        case ifMissing
        /// Creates the file, which must not exist.
        case always
    }

    let reads: Bool
    let writes: Bool
    let creation: Creation
    let truncates: Bool

    /// The permissions of a created file, less the process's umask.
    public var permissions: UInt32 = 0o666

    /// Reads an existing file.
    public static let reading = FileAccess(reads: true, writes: false, creation: .never, truncates: false)

    /// Writes a file.
    ///
    /// - Parameters:
    ///   - creation: the treatment of a missing file.
    ///   - truncates: whether an existing file is emptied first.
    public static func writing(_ creation: Creation = .ifMissing, truncates: Bool = false) -> FileAccess {
        FileAccess(reads: false, writes: true, creation: creation, truncates: truncates)
    }

    /// Reads and writes a file. Otherwise like ``writing(_:truncates:)``.
    public static func updating(_ creation: Creation = .never, truncates: Bool = false) -> FileAccess {
        FileAccess(reads: true, writes: true, creation: creation, truncates: truncates)
    }

    /// The flags of open(2). A pipe without a reader, or a terminal, must not block or bind the process.
    var flags: Int32 {
        var flags = O_NONBLOCK | O_NOCTTY | (writes ? (reads ? O_RDWR : O_WRONLY) : O_RDONLY)
        switch creation {
        case .never: break
        case .ifMissing: flags |= O_CREAT
        case .always: flags |= O_CREAT | O_EXCL
        }
        return flags
    }
}
