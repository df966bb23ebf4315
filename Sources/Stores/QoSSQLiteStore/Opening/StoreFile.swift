#if SQLite
internal import GRDB
internal import QoSCore
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Opens the file of a store, and refuses files that are none.
struct StoreFile {
    let path: String
    let settings: SQLiteStoreConfiguration

    /// Opens the file; makes it if it is missing and may be made.
    ///
    /// The file is examined before it gets the journal mode of a store: a file that is none does not change.
    ///
    /// - Parameter tallies: is told what the connection that writes changes.
    func open(telling tallies: TallyChanges) throws(SQLiteStoreError) -> DatabasePool {
        try makeFile()
        let end = ContinuousClock.now + settings.lockLimit
        while true {
            do {
                try examine()
                let pool = try DatabasePool(path: path, configuration: configuration)
                try pool.writeWithoutTransaction { try tallies.follow($0) }
                return pool
            } catch let error as SQLiteStoreError {
                throw error
            } catch let error as DatabaseError {
                // Some locks are refused at once, whatever the limit: that for the change of the journal's mode, while
                // another process makes the tables. A file system without locks never grants one.
                let isLocked = error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED
                guard isLocked, lockError != ENOLCK, ContinuousClock.now < end else { throw meaning(of: error) }
                settings.reached?(.init(moment: .begun, calls: ["open again"]))
                usleep(2000)
            } catch {
                throw .failed(path: path, reason: "\(error)")
            }
        }
    }

    /// Makes an empty file that its owner alone may read. The database gives its companions the same mode.
    private func makeFile() throws(SQLiteStoreError) {
        var status = stat()
        if unsafe stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw .cannotOpen(path: path, reason: "it is not a regular file")
            }
            guard unsafe access(path, R_OK) == 0 else { throw .cannotOpen(path: path, reason: Self.reason(errno)) }
            guard unsafe access(path, W_OK) == 0 else { throw .readOnly(path: path) }
            return
        }
        guard errno == ENOENT else { throw .cannotOpen(path: path, reason: Self.reason(errno)) }
        guard settings.creates else { throw .missing(path: path) }
        let file = Self.openFile(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
        guard file >= 0 else {
            // Another process was faster.
            if errno == EEXIST { return }
            if errno == ENOSPC { throw .diskFull(path: path) }
            throw .cannotOpen(path: path, reason: Self.reason(errno))
        }
        close(file)
    }

    /// Opens or makes a file of mode 0600.
    static func openFile(_ path: String, _ flags: Int32) -> Int32 { unsafe Glibc.open(path, flags, 0o600) }

    static func reason(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

    private func examine() throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        try queue.inDatabase { database in
            // One process makes the tables, and others wait.
            try database.beginTransaction(.immediate)
            defer { if database.isInsideTransaction { try? database.rollback() } }
            let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            if application != StoreSchema.application {
                let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
                guard application == 0, version == 0, tables == 0 else {
                    throw SQLiteStoreError.foreign(path: path, application: application)
                }
            }
            // The version that this program writes.
            let steps = settings.schemaSteps ?? StoreSchema.steps
            let newest = steps.count
            guard version <= newest else {
                throw SQLiteStoreError.newer(path: path, version: version, supported: newest)
            }
            if settings.checksContent, version > 0 {
                let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no verdict"
                guard verdict == "ok" else { throw SQLiteStoreError.damaged(path: path, reason: verdict) }
            }
            guard version < newest else { return }
            try StoreSchema.migrate(database, from: version, by: steps)
            settings.reached?(.init(moment: .written, calls: ["create"]))
            try database.commit()
            settings.reached?(.init(moment: .committed, calls: ["create"]))
        }
    }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "workloads"
        configuration.foreignKeysEnabled = false
        let limit = settings.lockLimit.schedulerNanoseconds
        configuration.busyMode = .callback { tries in
            // The first tries are short: another process' transaction takes some milliseconds.
            let pause: Int64 = tries < 10 ? 500_000 : 2_000_000
            guard Int64(tries) * 2_000_000 < limit else { return false }
            // Waiting does not help if the file system knows no locks.
            if tries == 20, lockError == ENOLCK { return false }
            usleep(UInt32(pause / 1000))
            return true
        }
        let pages = logPages
        configuration.prepareDatabase { database in
            try database.execute(
                sql: "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000; "
                    + "PRAGMA journal_size_limit = \(Self.logLimit); PRAGMA wal_autocheckpoint = \(pages)")
        }
        return configuration
    }

    /// The size to which the log is cut when it is empty, in bytes.
    static let logLimit: Int64 = 64 << 20

    /// Says what an error of the database means for the store.
    func meaning(of error: DatabaseError) -> SQLiteStoreError {
        let text = "\(error.message ?? "no message") (SQLite \(error.extendedResultCode.rawValue))"
        switch error.resultCode {
        case .SQLITE_NOTADB: return .notADatabase(path: path)
        case .SQLITE_CORRUPT: return .damaged(path: path, reason: text)
        case .SQLITE_READONLY, .SQLITE_PERM: return .readOnly(path: path)
        case .SQLITE_FULL: return .diskFull(path: path)
        case .SQLITE_BUSY where lockError == ENOLCK: return .noLocks(path: path)
        case .SQLITE_BUSY, .SQLITE_LOCKED: return .locked(path: path, after: settings.lockLimit)
        case .SQLITE_CANTOPEN: return .cannotOpen(path: path, reason: text)
        case .SQLITE_MISUSE: return .closed(path: path)
        default: return .failed(path: path, reason: text)
        }
    }
}
#endif
