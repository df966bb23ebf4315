internal import GRDB
internal import Synchronization
internal import TreeScan

/// A full-text index of the text files below a folder.
///
/// It is filled by passes (`makePass`), one at a time, and can be searched at any moment from any thread. Its files
/// are derived from the folder: whatever is wrong with them can be repaired by making them anew.
public final class SearchIndex: Sendable {
    /// Whether the database is open; it is closed for good, or for the moment in which it is made anew.
    enum Connection {
        case open(DatabasePool, FileIdentity?)
        case closed
    }

    let folder: String
    let files: IndexFiles
    let options: IndexSettings
    let board: StatusBoard
    let isPassUnderWay = Mutex(false)
    /// What a search learned about damage to the database; the pass acts on it.
    private let reportedDamage = Mutex<String?>(nil)
    private let lock: Mutex<IndexLock>
    private let connection: Mutex<Connection>

    /// Opens the index of `folder` that is kept in `directory`, or makes an empty one there.
    ///
    /// After an unclean end every page is checked first, which takes about a second per gigabyte or two. A damaged
    /// database is moved aside to `index.sqlite.corrupt-<time>`, and `status.notice` says so.
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
        let opened = try Self.openDatabase(files, folder: folder, options: options, isThorough: lock.wasLeftBehind)
        connection = Mutex(.open(opened.pool, files.identity))
        publish(opened)
    }

    /// The state now. Any thread may call it; it waits for nothing.
    public var status: IndexStatus {
        board.current
    }

    /// Begins a pass over the folder; one thread at a time may drive it.
    ///
    /// - Throws: `IndexError` when the folder cannot be listed, another pass is under way, or the index is closed.
    public func makePass() throws(IndexError) -> IndexPass {
        let token = try PassToken(of: self)
        do {
            return try IndexPass(self, token: token, pool: pool())
        } catch {
            let failure = Self.translate(error, files)
            board.update { $0.pause = failure.description }
            throw failure
        }
    }

    /// Whether the open database is the one that its path names; it is not when its folder was removed.
    public var isInPlace: Bool {
        guard case .open(_, let identity) = connection.withLock({ $0 }) else { return true }
        return identity != nil && identity == files.identity
    }

    /// Whether the index has to be made anew: a search met damage, or the files are gone. The next step of a pass fails
    /// then.
    public var needsRebuild: Bool {
        damage != nil || !isInPlace
    }

    /// Moves a damaged database aside, if it is still there, and makes an empty one. The next pass fills it.
    ///
    /// Searches that are under way fail; those that follow find what the new index has.
    ///
    /// - Throws: `IndexError` when the database cannot be moved or made.
    public func rebuild(because detail: String) throws(IndexError) {
        guard let pool = disconnect() else { throw .closed }
        // A damaged database may refuse to close in order; its files are moved all the same.
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

    /// Writes the log back into the database and closes it; searches that are under way are waited for.
    ///
    /// - Throws: `IndexError` when the database cannot be closed; its content is safe all the same.
    public func close() throws(IndexError) {
        guard let pool = disconnect() else { return }
        do {
            // The last connection to close is a reader, which cannot write the log back. Where it fails, as on a full
            // disk, the log keeps what it holds and the next start reads it.
            try? pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
            try pool.close()
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

    /// The damage that was reported, if any.
    var damage: String? {
        reportedDamage.withLock { $0 }
    }

    /// Notes damage that a search came upon.
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
