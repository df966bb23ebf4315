internal import Glibc

/// All that a look at an entry tells without opening it.
public struct EntryStatus: Hashable, Sendable {
    /// The kind.
    public let kind: FileKind
    /// The permission bits, 0 to 0o7777.
    public let mode: UInt32
    /// The owner's number.
    public let owner: UInt32
    /// The group's number.
    public let group: UInt32
    /// Size, times and identity.
    public let stamp: FileStamp
    /// The number of names of the inode, 1 or more.
    public let links: UInt64

    /// Makes a status from its parts, as another machine reported them.
    public init(kind: FileKind, mode: UInt32, owner: UInt32, group: UInt32, stamp: FileStamp, links: UInt64 = 1) {
        self.kind = kind
        self.mode = mode
        self.owner = owner
        self.group = group
        self.stamp = stamp
        self.links = links
    }

    init(_ status: stat) {
        kind = FileKind(mode: status.st_mode)
        mode = UInt32(status.st_mode) & 0o7777
        owner = status.st_uid
        group = status.st_gid
        stamp = FileStamp(status)
        links = max(1, UInt64(status.st_nlink))
    }

    /// Looks at an open entry, fstat(2); nil on failure, with `errno` set.
    public init?(descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Looks at the entry `name` of an open folder, and follows no link; nil on failure, with `errno` set.
    public init?(_ name: some Collection<UInt8>, in folder: Int32) {
        var status = stat()
        let terminated = name.map { CChar(bitPattern: $0) } + [0]
        guard unsafe fstatat(folder, terminated, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        self.init(status)
    }
}
