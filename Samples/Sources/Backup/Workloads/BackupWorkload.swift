public import QoSWorkloads

/// A backup of a folder, or of several ones in one snapshot, as a workload.
///
/// It breathes before each entry. Every half minute, and before it gives its place back, it stores what it saved so far
/// as the root of a part of the tree. The next attempt does not read those files again.
public struct BackupWorkload: Workload {
    /// The name in the store.
    public static let name: WorkloadName = "backup"

    /// What to save, and where to.
    public struct Parameters: Codable, Sendable {
        /// The folder to save.
        public var folder: String
        /// Further folders for the same snapshot.
        public var more: [String]
        /// The folder of the repository, or its address.
        public var repository: String
        /// Patterns that are left out, as in `BackupOptions`.
        public var excludes: [String]
        /// Names of ignore files, as in `BackupOptions`.
        public var ignoreFiles: [String]
        /// Whether other file systems are left out.
        public var oneFileSystem: Bool

        /// Makes parameters.
        public init(
            folder: String, more: [String] = [], repository: String, excludes: [String] = [],
            ignoreFiles: [String] = [], oneFileSystem: Bool = false
        ) {
            self.folder = folder
            self.more = more
            self.repository = repository
            self.excludes = excludes
            self.oneFileSystem = oneFileSystem
            self.ignoreFiles = ignoreFiles
        }

        /// Reads parameters, also those that an earlier version stored, which knew no ignore files, and one folder.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            folder = try values.decode(String.self, forKey: .folder)
            more = try values.decodeIfPresent([String].self, forKey: .more) ?? []
            repository = try values.decode(String.self, forKey: .repository)
            excludes = try values.decode([String].self, forKey: .excludes)
            ignoreFiles = try values.decodeIfPresent([String].self, forKey: .ignoreFiles) ?? []
            oneFileSystem = try values.decode(Bool.self, forKey: .oneFileSystem)
        }
    }

    /// The place from which a backup goes on.
    public typealias Checkpoint = BackupCheckpoint

    private let passphrase: @Sendable (_ repository: String) throws -> [UInt8]
    private let hook: StorageHook?
    private let interval: Duration
    private let ended: @Sendable (BackupReport) -> Void

    /// Makes the workload.
    ///
    /// - Parameters:
    ///   - interval: The time between two checkpoints.
    ///   - hook: Called before each call that changes a file. For tests.
    ///   - ended: Takes what a backup that came to its end did.
    ///   - passphrase: Returns the passphrase of a repository. It is asked in each attempt, and never stored.
    public init(
        savingEvery interval: Duration = .seconds(30), before hook: StorageHook? = nil,
        ended: @escaping @Sendable (BackupReport) -> Void = { _ in },
        passphrase: @escaping @Sendable (_ repository: String) throws -> [UInt8]
    ) {
        self.interval = interval
        self.ended = ended
        self.passphrase = passphrase
        self.hook = hook
    }

    /// Saves the folders.
    ///
    /// - Throws: `TreeScanError`, `BackupError`, and what ends an attempt. The framework then tries again.
    public func run(
        _ parameters: Parameters, in context: WorkloadContext<BackupCheckpoint>
    ) async throws -> WorkloadOutcome {
        let repository = try Repository.open(
            at: parameters.repository, passphrase: try passphrase(parameters.repository), before: hook)
        var options = BackupOptions()
        options.excludes = parameters.excludes
        options.ignoreFiles = parameters.ignoreFiles
        options.oneFileSystem = parameters.oneFileSystem
        let run = try BackupRun(
            repository, folders: [parameters.folder] + parameters.more, options: options, resuming: context.checkpoint)
        let report = try await run.run(
            breathe: {
                try await context.breathe()
                context.report(run.files, .files)
            },
            save: { try await context.save($0) },
            every: interval)
        ended(report)
        return .finished
    }
}
