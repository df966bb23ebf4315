public import QoSWorkloads

/// The end of old snapshots, as a workload: it forgets those that no rule keeps, and frees their space.
public struct PruneWorkload: Workload {
    /// The name in the store.
    public static let name: WorkloadName = "backup-prune"

    /// What to keep.
    public struct Parameters: Codable, Sendable {
        /// The folder of the repository.
        public var repository: String
        /// The rules. If they keep nothing, nothing is forgotten.
        public var policy: RetentionPolicy

        /// Makes parameters.
        public init(repository: String, policy: RetentionPolicy) {
            self.repository = repository
            self.policy = policy
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

    /// Forgets and prunes.
    ///
    /// - Throws: `BackupError`, and what ends an attempt.
    public func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome
    {
        let repository = try Repository.open(
            at: parameters.repository, passphrase: try passphrase(parameters.repository), before: hook)
        if !parameters.policy.keepsNothing {
            try repository.forget(parameters.policy.toForget(try repository.snapshots().snapshots))
        }
        var steps = 0
        _ = try await PruneRun(repository).run {
            try await context.breathe()
            steps += 1
            context.report(steps, .items)
        }
        return .finished
    }
}
