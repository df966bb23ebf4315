public import QoSWorkloads

/// A check of a repository, as a workload: the daily scrub.
public struct CheckWorkload: Workload {
    /// The name in the store.
    public static let name: WorkloadName = "backup-check"

    /// What to check.
    public struct Parameters: Codable, Sendable {
        /// The folder of the repository.
        public var repository: String
        /// The share of packs of which every byte is read, in percent.
        public var percent: Int

        /// Makes parameters.
        public init(repository: String, percent: Int = 1) {
            self.repository = repository
            self.percent = percent
        }
    }

    private let passphrase: @Sendable (_ repository: String) throws -> [UInt8]
    private let hook: StorageHook?
    private let breathed: @Sendable () async -> Void

    /// Makes the workload.
    ///
    /// - Parameters:
    ///   - hook: Called before each call that changes a file. For tests.
    ///   - passphrase: Returns the passphrase of a repository.
    ///   - breathed: Called between two pieces of work. For tests that hold a check.
    public init(
        before hook: StorageHook? = nil, passphrase: @escaping @Sendable (_ repository: String) throws -> [UInt8],
        breathed: @escaping @Sendable () async -> Void = {}
    ) {
        self.passphrase = passphrase
        self.hook = hook
        self.breathed = breathed
    }

    /// Checks the repository.
    ///
    /// - Throws: `BackupError`, also for damage, and what ends an attempt.
    public func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome
    {
        let repository = try Repository.open(
            at: parameters.repository, passphrase: try passphrase(parameters.repository), before: hook)
        var steps = 0
        let report = try await RepositoryCheck(repository, readingPercent: parameters.percent).run {
            await breathed()
            try await context.breathe()
            steps += 1
            context.report(steps, .items)
        }
        if let problem = report.problems.first {
            throw BackupError.damaged(
                path: repository.path, detail: "\(report.problems.count) problems; the first: \(problem)")
        }
        return .finished
    }
}
