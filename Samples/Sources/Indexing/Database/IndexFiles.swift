internal import Glibc
internal import TreeScan

/// The files of an index in its folder.
struct IndexFiles: Sendable {
    /// The folder.
    let directory: String

    /// The database.
    var database: String { directory + "/index.sqlite" }

    /// Makes the folder if necessary.
    init(directory: String) throws(IndexError) {
        self.directory = directory
        try prepare()
    }

    /// Names the files of an index that exists.
    init(existing directory: String) throws(IndexError) {
        self.directory = directory
        guard identity != nil else { throw .directory(path: directory, reason: "there is no index in it") }
    }

    /// Makes the folder, the folders above it, and an empty database, for this user alone.
    ///
    /// Existing files lose the rights of other users. SQLite gives its other files the rights of the database.
    func prepare() throws(IndexError) {
        var made = directory.hasPrefix("/") ? "" : "."
        for component in directory.split(separator: "/") {
            made += "/" + component
            guard unsafe mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            let code = errno
            // An existing folder above may refuse with another error, such as EROFS.
            guard FolderIdentity(path: made) == nil else { continue }
            throw .directory(path: directory, reason: "make \(made): \(SystemError.text(code))")
        }
        guard unsafe access(directory, W_OK | X_OK) == 0 else {
            throw .directory(path: directory, reason: SystemError.text(errno))
        }
        var status = stat()
        guard unsafe stat(directory, &status) == 0, status.st_mode & S_IWOTH == 0 else {
            throw .directory(path: directory, reason: "every user may write to it")
        }
        for suffix in ["", "-wal", "-shm"] {
            let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (suffix.isEmpty ? O_CREAT : 0)
            let descriptor = unsafe open(database + suffix, flags, 0o600)
            guard descriptor >= 0 else { continue }
            fchmod(descriptor, 0o600)
            close(descriptor)
        }
    }

    /// The identity of the file at the database's path; nil when there is none.
    var identity: FileIdentity? {
        FileIdentity(path: database)
    }

    /// Bytes of the database and its write-ahead log.
    var size: Int64 {
        ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return unsafe stat(database + suffix, &status) == 0 ? sum + Int64(status.st_size) : sum
        }
    }

    /// Renames the database with its companions to `index.sqlite.<label>-<time>`. Returns that path, or nil when there
    /// is no database.
    func moveAside(label: String, time: Int64) throws(IndexError) -> String? {
        guard identity != nil else { return nil }
        return try DatabaseFiles(database).moveAside(label: label, time: time)
    }
}
