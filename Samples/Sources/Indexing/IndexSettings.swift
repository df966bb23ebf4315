internal import Glibc
public import TreeScan

/// How an index is made.
public struct IndexSettings: Sendable {
    /// Bytes of text that are read of one file at most; the rest is not indexed and the file is marked as truncated.
    public var textLimit: Int

    /// What the scan leaves out; the index's own folder is always left out.
    public var scan: ScanOptions

    /// Bytes that the database may occupy, or nil for no limit; beyond it the pass pauses as on a full disk.
    public var databaseSizeLimit: Int?

    /// The wall clock, in nanoseconds since 1970, that decides which files are racy.
    public var now: @Sendable () -> Int64

    /// Options; by default 4 MiB of text per file, no limit for the database and the system's clock.
    public init(
        textLimit: Int = 4 * 1024 * 1024,
        scan: ScanOptions = ScanOptions(),
        databaseSizeLimit: Int? = nil,
        now: @escaping @Sendable () -> Int64 = IndexSettings.systemTime
    ) {
        self.textLimit = max(1, textLimit)
        self.scan = scan
        self.databaseSizeLimit = databaseSizeLimit
        self.now = now
    }

    /// Nanoseconds since 1970, clock_gettime(2) with `CLOCK_REALTIME`. Any thread may call it.
    public static func systemTime() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
