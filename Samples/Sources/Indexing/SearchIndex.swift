internal import GRDB
internal import Synchronization
internal import TreeScan

/// A full-text index of the text files below a folder.
///
/// Passes (`makePass`) fill it, one at a time. Any thread can search it at any moment. Its files are derived from the
/// folder: making them anew repairs any problem with them.
public final class SearchIndex: Sendable {
    /// The database, open or closed. It is closed for good, or while it is made anew.
    enum Connection {
        case open(DatabasePool, FileIdentity?)
        case closed
    }

    let folder: String
    let files: IndexFiles
    let options: IndexSettings
    let board: StatusBoard
    let isPassUnderWay = Mutex(false)
    /// The right to change the index.
    let turns = StepTurns()
    /// The number of refreshes of single folders so far.
    let refreshes = Atomic<Int>(0)
    /// The files that refreshes saw since the pass over the whole folder began. That pass must not sweep them.
    let seenByRefreshes = Mutex(IdentifierSet())
    /// A number of this opening of the database.
    let session = Mutex(UInt64.random(in: .min ... .max))
    /// Damage to the database that a search reported. The pass acts on it.
    private let reportedDamage = Mutex<String?>(nil)
    private let lock: Mutex<IndexLock>
    private let connection: Mutex<Connection>

    /// Opens the index of `folder` that is kept in `directory`, or makes an empty one there.
    ///
    /// After an unclean end it first checks every page, which takes about a second per gigabyte or two. After an orderly
    /// close it compares the digest of the file, which takes less. A damaged database is moved aside to
    /// `index.sqlite.corrupt-<time>`, and `status.notice` says so.
    ///
    /// - Throws: `IndexError` when the folder cannot be listed, the index is in use, or its place cannot be written to.
    public init(
        folder: String,
        directory: String,
        options: IndexSettings = IndexSettings()
    ) throws(IndexError) {
        do {
            _ = try RootFolder(folder)
        } catch {
            throw .folder(error)
        }
        files = try IndexFiles(directory: directory)
        let lock = try IndexLock(directory: directory)
        self.lock = Mutex(lock)
        self.folder = folder
        var options = options
        if let own = FolderIdentity(path: directory) {
            options.scan.excludedFolders.insert(own)
        }
        self.options = options
        board = StatusBoard(IndexStatus(folder: folder, database: files.database))
        let opened: Opened
        do {
            opened = try Self.openDatabase(files, folder: folder, options: options, isThorough: lock.wasLeftBehind)
        } catch {
            lock.giveUp()
            throw error
        }
        connection = Mutex(.open(opened.pool, files.identity))
        publish(opened)
    }

    /// The state now. Any thread may read it. It waits for nothing.
    public var status: IndexStatus {
        board.current
    }

    /// Begins a pass over the folder. One thread at a time may drive it.
    ///
    /// - Parameter checkpoint: The place from which to go on. It counts only for the same opening of the database.
    /// - Throws: `IndexError` when the folder cannot be listed, another pass is under way, or the index is closed.
    public func makePass(from checkpoint: PassCheckpoint? = nil) throws(IndexError) -> IndexPass {
        let token = try PassToken(of: self)
        do {
            return try IndexPass(self, token: token, pool: pool(), from: checkpoint)
        } catch {
            let failure = Self.translate(error, files)
            board.update { $0.pause = failure.description }
            throw failure
        }
    }

    /// Whether the path still names the open database. It does not after its folder was removed.
    public var isInPlace: Bool {
        guard case .open(_, let identity) = connection.withLock({ $0 }) else { return true }
        return identity != nil && identity == files.identity
    }

    /// Whether the index has to be made anew, because a search met damage or the files are gone. The next step of a
    /// pass fails then.
    public var needsRebuild: Bool {
        damage != nil || !isInPlace
    }

    /// Moves a damaged database aside, if it is still there, and makes an empty one. The next pass fills it.
    ///
    /// Running searches fail. Later ones search the new index.
    ///
    /// - Throws: `IndexError` when the database cannot be moved or made.
    public func rebuild(because detail: String) throws(IndexError) {
        guard let pool = disconnect() else { throw .closed }
        // A damaged database may refuse to close in order. Its files are moved all the same.
        try? pool.close()
        let notice = try Self.moveDamagedAside(files, detail: detail, options: options)
        try files.prepare()
        if !lock.withLock({ $0.isInPlace }) {
            let new = try IndexLock(directory: files.directory)
            lock.withLock { $0 = new }
        }
        let opened = try Self.makeDatabase(files, folder: folder, options: options, notice: notice)
        connection.withLock { $0 = .open(opened.pool, files.identity) }
        publish(opened)
    }

    /// Writes the log back into the database and closes it. Waits for running searches.
    ///
    /// - Throws: `IndexError` when the database cannot be closed. Its content is safe all the same.
    public func close() throws(IndexError) {
        guard let pool = disconnect() else { return }
        do {
            // The last connection to close is a reader, which cannot write the log back. If this fails, as on a full
            // disk, the log keeps its content and the next start reads it.
            try? pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
            try pool.close()
            DatabaseDigest.write(files, within: options.closePatience)
            lock.withLock { $0.release() }
        } catch {
            throw Self.translate(error, files)
        }
    }

    /// The open database.
    func pool() throws(IndexError) -> DatabasePool {
        guard case .open(let pool, _) = connection.withLock({ $0 }) else { throw .closed }
        return pool
    }

    /// The reported damage, if any.
    var damage: String? {
        reportedDamage.withLock { $0 }
    }

    /// Notes damage that a search met.
    func report(damage detail: String) {
        reportedDamage.withLock { $0 = detail }
        board.update { $0.notice = "A search found the index damaged (\(detail)). It is made anew from the files." }
    }

    private func disconnect() -> DatabasePool? {
        connection.withLock { connection in
            guard case .open(let pool, _) = connection else { return nil }
            connection = .closed
            return pool
        }
    }

    private func publish(_ opened: Opened) {
        reportedDamage.withLock { $0 = nil }
        session.withLock { $0 = .random(in: .min ... .max) }
        let size = files.size
        board.update { status in
            status.counts = opened.counts
            status.problems = opened.problems
            status.pause = nil
            status.databaseBytes = size
            status.notice = opened.notice ?? status.notice
            status.hasScanned = false
        }
    }
}
