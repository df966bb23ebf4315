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
