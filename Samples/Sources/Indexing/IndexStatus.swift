/// The state of an index at one moment.
public struct IndexStatus: Sendable, Hashable, Codable {
    /// The indexed folder.
    public let folder: String
    /// The path of the database.
    public let database: String
    /// The numbers of files by state.
    public internal(set) var counts = IndexCounts()
    /// The current activity.
    public internal(set) var activity = IndexActivity.idle
    /// The reason for no activity, while the activity is `paused` or after a pass that failed.
    public internal(set) var pause: String?
    /// A message for the user, for example that a damaged index was moved aside.
    public internal(set) var notice: String?
    /// Whether a scan has ended since the index was opened, so that `counts.pending` covers the whole folder.
    public internal(set) var hasScanned = false
    /// Regular files that the current or last scan has seen.
    public internal(set) var scanned = 0
    /// The number of files and folders that the last scan could not read.
    public internal(set) var unreadable = 0
    /// The first hundred files, by path, that could not be read or only in part.
    public internal(set) var problems: [FileProblem] = []
    /// The first hundred ignore files and lines of them that have no effect, as of the last scan.
    public internal(set) var ignoreProblems: [FileProblem] = []
    /// Files that were read and settled since the index was opened.
    public internal(set) var settled = 0
    /// Bytes of the database with its write-ahead log.
    public internal(set) var databaseBytes: Int64 = 0
    /// The last pass that ended.
    public internal(set) var lastPass: PassReport?

    init(folder: String, database: String) {
        self.folder = folder
        self.database = database
    }

    /// Whether an answer given now covers the whole text of every file in the folder, as of the last scan.
    ///
    /// False while files wait to be read, after a pass that failed, or when a file could not be read, or only in part.
    public var isComplete: Bool {
        hasScanned && pause == nil && unreadable == 0 && counts.pending == 0 && counts.unread == 0
            && counts.truncated == 0
    }
}
