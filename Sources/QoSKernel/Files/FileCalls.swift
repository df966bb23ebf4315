/// The calls for files, so that tests can let each of them fail.
///
/// Each returns what the manual's section 2 says, or the negated error number. Any thread; each may block.
package protocol FileCalls: Sendable {
    /// Opens a file (open(2)). O_CLOEXEC is always added.
    func open(_ path: String, flags: Int32, permissions: UInt32) -> Int32
    /// Closes a descriptor (close(2)). It is closed, whatever the result.
    func close(_ descriptor: Int32) -> Int32
    /// Reads at an offset, with the given manner (preadv2(2)).
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ manner: FileManner)
        -> Int
    /// Writes at an offset, with the given manner (pwritev2(2)).
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ manner: FileManner) -> Int
    /// Copies inside of the kernel (copy_file_range(2)).
    func copy(from: Int32, at: Int64, to: Int32, at target: Int64, count: Int) -> Int
    /// Writes what the file has in memory (fsync(2), fdatasync(2)).
    func synchronize(_ descriptor: Int32, dataOnly: Bool) -> Int32
    /// Writes all of the file system of an open file to the disk (syncfs(2)).
    func synchronizeFileSystem(_ descriptor: Int32) -> Int32
    /// Starts the write-back of a range, or waits for its end (sync_file_range(2)).
    func writeBack(_ descriptor: Int32, from offset: Int64, count: Int64, waits: Bool) -> Int32
    /// Tells the kernel how a range is used (posix_fadvise(2)).
    func advise(_ descriptor: Int32, from offset: Int64, count: Int64, _ advice: FileAdvice)
    /// Kind and size of an open file (fstat(2)).
    func status(_ descriptor: Int32) -> (result: Int32, status: FileStatus)
    /// Kind and size of a file, of a symbolic link itself (lstat(2)).
    func status(of path: String) -> (result: Int32, status: FileStatus)
    /// Sets the size (ftruncate(2)).
    func truncate(_ descriptor: Int32, to size: Int64) -> Int32
    /// Sets the permission bits, whatever the umask (fchmod(2)).
    func setPermissions(_ descriptor: Int32, _ permissions: UInt32) -> Int32
    /// Renames; without `replacing` only if the new name is free (rename(2), renameat2(2)), which not all file systems
    /// can.
    func rename(_ path: String, to new: String, replacing: Bool) -> Int32
    /// Gives a file another name, if that is free (link(2)).
    func link(_ path: String, to new: String) -> Int32
    /// Removes a name (unlink(2)).
    func remove(_ path: String) -> Int32
}

/// How a read or a write treats the page cache.
package enum FileManner: Sendable, Hashable, CaseIterable {
    /// As usual.
    case plain
    /// Only what is in memory; `EAGAIN` otherwise (RWF_NOWAIT).
    case fromMemory
    /// Keeps nothing in memory that was not there before (RWF_DONTCACHE, Linux 6.14; `EOPNOTSUPP` elsewhere).
    case uncached
}

/// How a range of a file is used.
package enum FileAdvice: Sendable, Hashable, CaseIterable {
    /// In no way that is known.
    case normal
    /// From the beginning to the end: read ahead.
    case sequential
    /// At random places: read nothing ahead.
    case random
    /// Not again.
    case notNeeded
}

/// Kind and size of a file.
package struct FileStatus: Sendable, Hashable {
    /// The kind, as `S_IFMT` selects it from the mode (inode(7)).
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case regular = "regular file"
        case directory
        case symbolicLink = "symbolic link"
        case fifo
        case socket
        case characterDevice = "character device"
        case blockDevice = "block device"
        case unknown = "file of an unknown kind"
    }

    /// The kind.
    package var kind = Kind.unknown
    /// The size in bytes.
    package var size: Int64 = 0
    /// The permission bits.
    package var permissions: UInt32 = 0

    /// An unknown file.
    package init() {}

    /// Describes a file.
    package init(kind: Kind, size: Int64 = 0, permissions: UInt32 = 0o644) {
        (self.kind, self.size, self.permissions) = (kind, size, permissions)
    }
}
