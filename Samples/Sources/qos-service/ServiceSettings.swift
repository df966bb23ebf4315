/// What the service was asked to do.
struct ServiceSettings: Sendable {
    /// The folder to index, absolute and without links.
    var folder: String
    /// Where the index is kept.
    var directory: String
    /// The address to listen on.
    var host: String
    /// The port to listen on, 0 for any.
    var port: Int
    /// The time between two passes.
    var rescanInterval: Duration
    /// Whether progress is not shown.
    var isQuiet: Bool
}
