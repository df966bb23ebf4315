internal import Glibc
internal import SafeFiles

/// The folder in which a scan starts and below which files are opened. It holds the folder open.
///
/// Threads may share it.
public final class RootFolder: Sendable {
    /// The path as it was given: a text of `PathText`, so that a name may be of any bytes.
    public let path: String

    private let descriptor: Int32

    /// `O_PATH`, which the C library hides behind a feature macro. It is the same on every architecture that uses
    /// asm-generic/fcntl.h. With this flag, passing through a folder needs the right to search the folder, not to list
    /// it.
    private static let pathOnly: Int32 = 0o10_000_000

    /// Opens the folder.
    ///
    /// - Throws: `TreeScanError` when it is missing, is not a folder or cannot be read.
    public init(_ path: String) throws(TreeScanError) {
        let descriptor = unsafe Glibc.open(PathText.bytes(path).terminated, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.error(path, errno) }
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// The absolute path without links, also the path as it was given if that is another absolute one.
    public var absolutePaths: [String] {
        var paths = path.hasPrefix("/") ? [path] : []
        if let real = Self.realPath(path), !paths.contains(where: { $0.utf8.elementsEqual(real.utf8) }) {
            paths.append(real)
        }
        return paths
    }

    /// Returns the absolute path without links, realpath(3); nil on failure, with `errno` set.
    public static func realPath(_ path: String) -> String? {
        guard let real = unsafe realpath(PathText.bytes(path).terminated, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe PathText.text(Array(UnsafeRawBufferPointer(start: real, count: strlen(real))))
    }

    /// Whether the path still names the folder that is open here. It does not after another folder was put, or mounted,
    /// in its place.
    public var isCurrent: Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return FolderIdentity(path: path) == FolderIdentity(status)
    }

    /// Whether a path is a folder itself, or lies in it. Both are absolute paths without links. Looks at no file.
    public static func contains(_ folder: String, _ path: String) -> Bool {
        // By bytes: two names may be different ways to write the same letters, and texts of Swift are equal then.
        guard path.utf8.starts(with: folder.utf8) else { return false }
        let rest = path.utf8.dropFirst(folder.utf8.count)
        let slash = UInt8(ascii: "/")
        return rest.isEmpty || rest.first == slash || folder.utf8.last == slash
    }

    func list() throws(TreeScanError) -> OpenFolder {
        // A separate descriptor: a directory stream moves the position that duplicates share.
        let listing = openEntry(".".utf8, in: descriptor, flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard listing >= 0 else { throw Self.error(path, errno) }
        do throws(FileSystemFailure) {
            return try OpenFolder(owning: listing, path: .root)
        } catch {
            throw Self.error(path, error.code)
        }
    }

    /// Opens a regular file for reading. Each component is opened relative to the one above, and no link is followed.
    /// Never waits for the other end of a pipe.
    ///
    /// - Throws: `FileSystemFailure`. A link or a missing component counts as vanished. An entry that is no longer a
    ///   regular file fails with `ENODEV`.
    public func open(_ file: RelativePath) throws(FileSystemFailure) -> OpenFile {
        try OpenFile(owning: descriptor(of: file, for: .reading), path: file)
    }

    /// The use of a descriptor.
    public enum Access: Sendable {
        /// Reads the content of a file.
        case reading
        /// Lists a folder.
        case listing
        /// Reads the status of an entry of any kind, also of a link, without the right to read it (`O_PATH`).
        case status
    }

    /// Opens an entry in the same way, and returns its descriptor. The caller closes it.
    ///
    /// - Throws: `FileSystemFailure`, as `open(_:)`. The kind of the entry is not looked at.
    public func descriptor(of file: RelativePath, for access: Access) throws(FileSystemFailure) -> Int32 {
        var folder = descriptor
        defer { if folder != descriptor { close(folder) } }
        let components = file.components
        for component in components.dropLast() {
            let next = openEntry(component, in: folder, flags: Self.pathOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { throw FileSystemFailure(path: file, operation: "open", code: errno) }
            if folder != descriptor { close(folder) }
            folder = next
        }
        let flags =
            switch access {
            case .reading: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
            case .listing: O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            case .status: Self.pathOnly | O_NOFOLLOW | O_CLOEXEC
            }
        let opened = openEntry(components.last ?? [UInt8(ascii: ".")], in: folder, flags: flags)
        guard opened >= 0 else {
            // A socket or a device without a driver cannot be opened. It is no regular file either.
            let code = errno == ENXIO ? ENODEV : errno
            throw FileSystemFailure(path: file, operation: "open", code: code)
        }
        return opened
    }

    private static func error(_ path: String, _ code: Int32) -> TreeScanError {
        switch code {
        case ENOENT: .missing(path: path)
        case ENOTDIR: .notAFolder(path: path)
        case EACCES, EPERM: .denied(path: path)
        default: .failed(path: path, code: code)
        }
    }
}
