internal import Glibc

/// The kind of an entry of a folder, by the type bits of its mode (inode(7)).
public enum FileKind: String, Sendable, CaseIterable {
    /// A regular file.
    case regular
    /// A folder.
    case directory
    /// A symbolic link. It is never followed.
    case symbolicLink = "symbolic-link"
    /// A named pipe.
    case fifo
    /// A socket.
    case socket
    /// A character or block device.
    case device

    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .directory
        case S_IFLNK: self = .symbolicLink
        case S_IFIFO: self = .fifo
        case S_IFSOCK: self = .socket
        default: self = .device
        }
    }
}
