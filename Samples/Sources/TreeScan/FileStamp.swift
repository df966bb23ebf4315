internal import Glibc
internal import SafeFiles

/// The facts that tell one state of a file from another without reading it.
public struct FileStamp: Hashable, Sendable {
    /// Length in bytes.
    public let size: Int64

    /// Time of the last change of the content, as `FileTime` counts it: in nanoseconds since 1970 for nearly all files.
    /// Programs may set it at will.
    public let modified: Int64

    /// Time of the last change of the inode, as `FileTime` counts it. Only the kernel's clock sets it.
    public let changed: Int64

    /// The inode's number.
    public let inode: UInt64

    /// The device of the inode.
    public let device: UInt64

    /// Makes a stamp from its parts.
    public init(size: Int64, modified: Int64, changed: Int64, inode: UInt64, device: UInt64) {
        self.size = size
        self.modified = modified
        self.changed = changed
        self.inode = inode
        self.device = device
    }

    init(_ status: stat) {
        self.init(
            size: max(0, Int64(status.st_size)),
            modified: FileTime.number(status.st_mtim),
            changed: FileTime.number(status.st_ctim),
            inode: UInt64(status.st_ino),
            device: UInt64(status.st_dev)
        )
    }

    /// Whether a later write could leave this stamp unchanged. Such a file must be read again next time.
    ///
    /// File times advance with the kernel's tick, not with each write. A file whose times lie within `window` of the
    /// look may be written once more without a visible change. Change times in the future (the clock was set back)
    /// count as racy too. Modification times there do not, because programs choose them.
    ///
    /// - Parameters:
    ///   - now: The moment of the look, in nanoseconds since 1970.
    ///   - window: The width of the doubt, in nanoseconds.
    public func isRacy(at now: Int64, window: Int64 = 2_000_000_000) -> Bool {
        let (first, last) = (now.subtractingClamped(window), now.addingClamped(window))
        return changed >= first || (modified >= first && modified <= last)
    }
}
