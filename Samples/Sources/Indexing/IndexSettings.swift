internal import SafeFiles
public import TreeScan

/// The settings of an index.
public struct IndexSettings: Sendable {
    /// The maximum number of bytes of text to read of one file. The rest is not indexed, and the file is marked as
    /// truncated.
    public var textLimit: Int

    /// The names of the ignore files that count, the strongest first.
    public static let ignoreFiles = [".ignore", ".gitignore"]

    /// The entries that the scan leaves out. The index's own folder is always left out.
    public var scan: ScanOptions

    /// The maximum size of the database in bytes, or nil for no limit. Above it the pass pauses as on a full disk.
    public var databaseSizeLimit: Int?

    /// Whether a new index also finds parts of words. An index keeps what it was made with.
    ///
    /// Such an index has a second full-text table, of all sequences of three characters.
    public var substrings = false

    /// The converter of PDF files; nil to leave them out.
    public var pdfConverter: DocumentConverter?
    /// The converter that unpacks office documents and books; nil to leave them out.
    public var archiveConverter: DocumentConverter? = .bsdtar
    /// The converter of compressed files (`.gz`); nil to leave them out.
    public var gzipConverter: DocumentConverter? = .gzip

    /// The languages whose word forms a new index finds together. An index keeps what it was made with.
    public var stemming: [StemLanguage] = []

    /// The time that a close may spend on the digest of the database. A service has a second to stop.
    package var closePatience = Duration.milliseconds(500)

    /// The wall clock, in nanoseconds since 1970, that decides which files are racy.
    public var now: @Sendable () -> Int64

    /// Makes settings; by default 4 MiB of text per file, the ignore files, no limit for the database and the system's
    /// clock.
    public init(
        textLimit: Int = 4 * 1024 * 1024,
        scan: ScanOptions = ScanOptions(maximumDepth: 2048, ignoreFiles: IndexSettings.ignoreFiles),
        databaseSizeLimit: Int? = nil,
        pdfConverter: DocumentConverter? = .pdftotext,
        now: @escaping @Sendable () -> Int64 = IndexSettings.systemTime
    ) {
        self.textLimit = max(1, textLimit)
        self.scan = scan
        self.databaseSizeLimit = databaseSizeLimit
        self.pdfConverter = pdfConverter
        self.now = now
    }

    /// Returns nanoseconds since 1970, clock_gettime(2) with `CLOCK_REALTIME`. Any thread may call it.
    public static func systemTime() -> Int64 { FileTime.now }
}
