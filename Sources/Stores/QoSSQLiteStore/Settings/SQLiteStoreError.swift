#if SQLite
/// A failure of a store's file. Nothing that was acknowledged is lost. A call that throws it may be repeated.
public enum SQLiteStoreError: Error, Sendable, Hashable {
    /// The file does not exist, and the configuration does not allow to create it.
    case missing(path: String)
    /// The file cannot be opened or created; the system's reason.
    case cannotOpen(path: String, reason: String)
    /// The file is not an SQLite database.
    case notADatabase(path: String)
    /// The file is the database of another program, or of another part of this one.
    case foreign(path: String, application: Int32)
    /// A later version of the program has written the file.
    case newer(path: String, version: Int, supported: Int)
    /// The file is damaged; the database's finding.
    case damaged(path: String, reason: String)
    /// The file or its folder cannot be written.
    case readOnly(path: String)
    /// The disk is full.
    case diskFull(path: String)
    /// Another process holds the lock of the database for longer than the limit.
    case locked(path: String, after: Duration)
    /// The file system of the store grants no locks.
    case noLocks(path: String)
    /// The store was closed.
    case closed(path: String)
    /// Another failure of the database or the disk.
    case failed(path: String, reason: String)
}

extension SQLiteStoreError: CustomStringConvertible {
    /// The mistake and its remedy.
    public var description: String {
        switch self {
        case .missing(let path):
            "there is no store at \(path): check the path, or start the program that makes it"
        case .cannotOpen(let path, let reason):
            "the store \(path) cannot be opened: \(reason); check that its folder exists and that this user may write it"
        case .notADatabase(let path):
            "\(path) is not an SQLite database: give the store another path; the file was not changed"
        case .foreign(let path, let application):
            "\(path) belongs to another program (application id \(application)): give the store another path; the file "
                + "was not changed"
        case .newer(let path, let version, let supported):
            "a newer program has written \(path) (version \(version), this one knows \(supported)): update this program; "
                + "the file was not changed"
        case .damaged(let path, let reason):
            "the store \(path) is damaged: \(reason); stop its hosts, keep a copy of it with -wal and -shm, and make a new "
                + "one with: sqlite3 \(path) .recover | sqlite3 new-file"
        case .readOnly(let path):
            "the store \(path) cannot be written: make the file, its -wal and -shm, and their folder writable for this user"
        case .diskFull(let path):
            "the disk of the store \(path) is full: free some space; then the call can be repeated"
        case .locked(let path, let limit):
            "another process has kept the store \(path) locked for \(limit): end its transaction, for example that of a "
                + "shell with an open BEGIN"
        case .noLocks(let path):
            "the file system of \(path) grants no locks (ENOLCK): put the store on a local disk, or start the lock service "
                + "of the network's file system"
        case .closed(let path): "the store \(path) was closed: open it again"
        case .failed(let path, let reason): "the store \(path) failed: \(reason); the call can be repeated"
        }
    }
}
#endif
