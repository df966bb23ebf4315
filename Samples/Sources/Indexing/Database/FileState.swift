/// The state of a file. The raw value is in the database.
enum FileState: Int {
    /// Known and not read yet. An earlier document of the file stays searchable until then.
    case pending = 0
    /// Its text is in the index.
    case indexed = 1
    /// Left out on purpose.
    case skipped = 2
    /// Not readable. Each pass tries again.
    case failed = 3
}
