/// Where a file stands; the raw value is in the database.
enum FileState: Int {
    /// Known, and to be read; an earlier document of it stays searchable until then.
    case pending = 0
    /// Its text is in the index.
    case indexed = 1
    /// Left out on purpose.
    case skipped = 2
    /// Could not be read; tried again in each pass.
    case failed = 3
}
