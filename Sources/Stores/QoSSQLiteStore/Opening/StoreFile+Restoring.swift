#if SQLite
internal import GRDB
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension StoreFile {
    /// A file, whatever its name.
    struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64
    }

    /// The file that the path names; nil if it names none.
    var identity: Identity? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The log beside the file, and its size in bytes; nil without one.
    var log: (identity: Identity, size: Int64)? {
        var status = stat()
        guard unsafe stat(path + "-wal", &status) == 0 else { return nil }
        return (Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)), Int64(status.st_size))
    }

    /// The number of pages of the log from which the database empties it. On a small disk it is smaller than usual: the
    /// log must not fill it.
    var logPages: Int64 {
        let usual: Int64 = 1000
        var space = statvfs()
        guard unsafe statvfs(path, &space) == 0 else { return usual }
        let (bytes, overflows) = UInt64(space.f_blocks).multipliedReportingOverflow(by: UInt64(space.f_frsize))
        guard !overflows else { return usual }
        return min(usual, max(16, Int64(clamping: bytes / 16 / 4096)))
    }

    /// The error of a lock on a file beside the store; 0 if the file system grants it.
    ///
    /// The database says the same of a lock that another process has and of one that the file system does not know.
    var lockError: Int32 {
        if let probe = settings.lockProbe { return probe() }
        let descriptor = Self.openFile(path + "-notice", O_RDWR | O_CREAT | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        lock.l_whence = Int16(SEEK_SET)
        // Not the byte by which a process says that it listens.
        (lock.l_start, lock.l_len) = (8, 1)
        // F_OFD_SETLK of fcntl(2), which Swift does not import: the lock ends with this open file.
        return unsafe fcntl(descriptor, 37, &lock) == 0 ? 0 : errno
    }

    /// Writes the content of a database whose file was removed to a new file at the path.
    ///
    /// The new file appears with all of its content or not at all. A file that another process has put at the path
    /// meanwhile stays.
    func writeAgain(from pool: DatabasePool) throws {
        if let end = path.lastIndex(of: "/"), end != path.startIndex {
            // Only the folder of the file: one that was there at the opening.
            _ = unsafe mkdir(String(path[..<end]), 0o700)
        }
        let draft = "\(path)-restored-\(getpid())"
        unsafe unlink(draft)
        let descriptor = Self.openFile(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
        guard descriptor >= 0 else { throw SQLiteStoreError.cannotOpen(path: draft, reason: Self.reason(errno)) }
        defer {
            close(descriptor)
            unsafe unlink(draft)
        }
        try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [draft]) }
        guard fsync(descriptor) == 0 else {
            throw SQLiteStoreError.failed(path: draft, reason: Self.reason(errno))
        }
        guard identity == nil else { return }
        // A log that outlived its database would be taken for that of the new one.
        for suffix in ["-wal", "-shm"] { unsafe unlink(path + suffix) }
        // Unlike a rename, this replaces no file.
        guard unsafe link(draft, path) == 0 || errno == EEXIST else {
            throw SQLiteStoreError.cannotOpen(path: path, reason: Self.reason(errno))
        }
    }
}
#endif
