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
    /// Foundation's OperationQueue, in a program of its own: no other process is to load Foundation.
    case foundation

    /// Those that run any task: Swift executors.
    public static let executors: [PeerKind] = allCases.filter { $0 != .foundation }
}
