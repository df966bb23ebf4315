internal import GRDB

/// An index that is only searched. Another process may have it open and fill it meanwhile.
///
/// Any thread may use it. Each call blocks its thread while the database reads.
public final class IndexReader: Sendable {
    /// The state of an index as its database has it.
    public struct State: Sendable, Hashable, Codable {
        /// The indexed folder.
        public let folder: String
        /// The numbers of files by state.
        public let counts: IndexCounts
        /// The first hundred files that could not be read, or only in part.
        public let problems: [FileProblem]
        /// The end of the last scan, in nanoseconds since 1970; nil before the first one.
        public let scanned: Int64?
        /// The number of entries that the last scan could not read.
        public let unreadable: Int
        /// Bytes of the database with its write-ahead log.
        public let databaseBytes: Int64
        /// The process that has the index open for writing, if there is one.
        public let process: Int32?

        /// Whether the index has the whole text of every file, as of the last scan.
        public var isComplete: Bool {
            scanned != nil && unreadable == 0 && counts.pending == 0 && counts.unread == 0 && counts.truncated == 0
        }
    }

    private let folder: String
    private let files: IndexFiles
    private let pool: DatabasePool

    /// Opens the index of a folder.
    ///
    /// - Throws: `IndexError` if there is none that this version can read.
    public init(folder: String, directory: String) throws(IndexError) {
        self.folder = folder
        files = try IndexFiles(existing: directory)
        do {
            pool = try IndexDatabase.open(files.database, sizeLimit: nil, isReadOnly: true)
            switch try IndexDatabase.examine(pool, folder: folder, isThorough: false) {
            case .ours: break
            case .empty, .outdated:
                throw IndexError.outdated(path: files.database)
            case .foreign: throw IndexError.notAnIndex(path: files.database)
            case .otherFolder(let owner): throw IndexError.otherFolder(path: files.database, folder: owner)
            case .damaged(let detail): throw IndexError.damaged(path: files.database, detail: detail)
            }
        } catch {
            throw SearchIndex.translate(error, files)
        }
    }

    /// Answers a query, like `SearchIndex.search`.
    ///
    /// - Throws: `SearchError`.
    public func search(
        _ query: SearchQuery, control: SearchControl = SearchControl()
    ) throws(SearchError) -> SearchAnswer {
        let status: State
        do { status = try state } catch { throw .unavailable(error.description) }
        return try Searching(pool: pool) { _ in }.answer(
            query, control, isComplete: status.isComplete, pending: status.counts.pending)
    }

    /// The state now.
    ///
    /// - Throws: `IndexError` if the database cannot be read.
    public var state: State {
        get throws(IndexError) {
            do {
                return try pool.read { database in
                    let table = FileTable(database: database)
                    let scan = try ScanRecord.fetch(database)
                    return State(
                        folder: folder, counts: try table.counts(),
                        problems: try table.problems(limit: FileProblem.limit), scanned: scan?.time,
                        unreadable: scan?.unreadable ?? 0, databaseBytes: files.size,
                        process: IndexLock.owner(directory: files.directory))
                }
            } catch {
                throw SearchIndex.translate(error, files)
            }
        }
    }
}
