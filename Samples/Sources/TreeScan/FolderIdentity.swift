internal import Glibc
internal import SafeFiles

/// A folder by device and inode. Both stay the same under renames and other names.
public struct FolderIdentity: Hashable, Sendable {
    /// The device.
    public let device: UInt64

    /// The inode's number.
    public let inode: UInt64

    /// The identity of the folder at `path`, a text of `PathText`, or nil when there is none; stat(2), follows links.
    public init?(path: String) {
        var status = stat()
        guard unsafe stat(PathText.bytes(path).terminated, &status) == 0, FileKind(mode: status.st_mode) == .directory
        else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
