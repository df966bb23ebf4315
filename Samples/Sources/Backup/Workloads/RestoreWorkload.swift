public import QoSWorkloads
public import TreeScan

/// A restore, as a workload. Run again, it goes on: what is there is compared, not written again.
public struct RestoreWorkload: Workload {
    /// The name in the store.
    public static let name: WorkloadName = "restore"

    /// What to restore, and where to.
    public struct Parameters: Codable, Sendable {
        /// The folder of the repository.
        public var repository: String
        /// The whole name of the snapshot.
        public var snapshot: String
        /// The bytes of the path below the snapshot's folder; empty for all.
        public var path: [UInt8]
        /// The folder to write to. It is made if it is missing.
        public var target: RestoreTarget
        /// Whether files that are there, and are others, are replaced.
        public var replaces: Bool

        /// Makes parameters.
        public init(
            repository: String, snapshot: String, path: RelativePath, target: RestoreTarget, replaces: Bool = false
        ) {
            self.repository = repository
            self.snapshot = snapshot
            self.path = path.bytes
            self.target = target
            self.replaces = replaces
        }
    }

    /// A restore that left entries out.
    public struct Incomplete: Error, CustomStringConvertible {
        /// The entries, each with its reason.
        public let problems: [String]

        /// The first entries, in words.
        public var description: String {
            let first = problems.prefix(3).joined(separator: "; ")
            return "entries that could not be restored: \(problems.count), as \(first)"
        }
    }

    private let passphrase: @Sendable (_ repository: String) throws -> [UInt8]
    private let hook: StorageHook?

    /// Makes the workload.
    ///
    /// - Parameters:
    ///   - hook: Called before each call that changes a file. For tests.
    ///   - passphrase: Returns the passphrase of a repository.
    public init(
        before hook: StorageHook? = nil, passphrase: @escaping @Sendable (_ repository: String) throws -> [UInt8]
    ) {
        self.passphrase = passphrase
        self.hook = hook
    }

    /// Restores.
    ///
    /// - Throws: `BackupError`, ``Incomplete``, and what ends an attempt.
    public func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome
    {
        try parameters.target.check()
        let repository = try Repository.open(
            at: parameters.repository, passphrase: try passphrase(parameters.repository), before: hook)
        let snapshot = try repository.snapshot(named: parameters.snapshot)
        var options = RestoreOptions()
        options.path = RelativePath(bytes: parameters.path)
        options.replaces = parameters.replaces
        let run = try RestoreRun(repository, snapshot, to: parameters.target.whole, options: options)
        let total = parameters.path.isEmpty ? snapshot.files : nil
        let report = try await run.run {
            try await context.breathe()
            context.report(run.entries, of: total.map { max($0, run.entries) }, .files)
        }
        guard report.problems.isEmpty else { throw Incomplete(problems: report.problems) }
        context.report(run.entries, of: run.entries, .files)
        return .finished
    }
}
