/// What runs the work that is measured.
public enum PeerKind: String, Sendable, Hashable, CaseIterable {
    /// The package's runtime as the executor of the whole process.
    case ours
    /// The package's runtime through executor preferences, beside Swift's default executor.
    case oursByPreference = "ours-preference"
    /// The package's runtime, process-wide, with one worker for each class.
    case oursWithOneWorker = "ours-one"
    /// Swift's default executor.
    case defaultExecutor = "default"
    /// What cannot be undercut: a single-threaded loop without synchronisation as the executor, or C without any.
    case floor
}
