public import QoSWorkloads
internal import TreeScan

/// A sync of two folders, as a workload.
///
/// It breathes before each step. The archive knows each step that is done, so the next attempt goes on from there; the
/// checkpoint only counts.
public struct SyncWorkload: Workload {
    /// The name in the store.
    public static let name: WorkloadName = "sync"

    /// What to bring in step, and how.
    public struct Parameters: Codable, Sendable {
        /// The first folder.
        public var a: String
        /// The second folder, or the address of its agent.
        public var b: String
        /// The direction.
        public var mode: SyncMode
        /// The way out of conflicts.
        public var policy: ConflictPolicy
        /// The share of a side's entries that may be removed, in percent.
        public var maximumDeletions: Int
        /// The folder of the archives; nil for the default.
        public var archive: String?
        /// The patterns of the entries that stay as they are, as those of `ExcludeRules`; nil for none.
        public var excludes: [String]?

        /// Makes parameters.
        public init(
            a: String, b: String, mode: SyncMode = .twoWay, policy: ConflictPolicy = .keepBoth,
            maximumDeletions: Int = 50, archive: String? = nil, excludes: [String]? = nil
        ) {
            self.a = a
            self.b = b
            self.mode = mode
            self.policy = policy
            self.maximumDeletions = maximumDeletions
            self.archive = archive
            self.excludes = excludes
        }
    }

    /// The steps of all attempts so far.
    public struct Checkpoint: Codable, Sendable, Hashable {
        /// Their number.
        public var steps: Int
    }

    /// A run that came to its end.
    public struct Ending: Sendable {
        /// What it did.
        public var report: SyncReport
        /// The folders of this machine that it saw, as absolute paths. For watches.
        public var folders: [String]
    }

    private let interval: Duration
    private let wanted: WantedFiles
    private let opening: @Sendable (Parameters, SyncOptions) throws -> SyncRun
    private let ended: @Sendable (Result<Ending, any Error>) -> Void
    private let reached: @Sendable (SyncStep) -> Void

    /// Makes the workload.
    ///
    /// - Parameters:
    ///   - interval: The time between two checkpoints.
    ///   - wanted: The files that are copied before all others.
    ///   - opening: Opens both sides. By default both are folders of this machine.
    ///   - reached: Called after each step. For tests.
    ///   - ended: Takes the end of each attempt, or its error. A wish to stop counts as an error, too.
    public init(
        savingEvery interval: Duration = .seconds(30), wanted: WantedFiles = WantedFiles(),
        opening: @escaping @Sendable (Parameters, SyncOptions) throws -> SyncRun = { parameters, options in
            try SyncRun(a: parameters.a, b: parameters.b, options: options)
        },
        reached: @escaping @Sendable (SyncStep) -> Void = { _ in },
        ended: @escaping @Sendable (Result<Ending, any Error>) -> Void = { _ in }
    ) {
        self.interval = interval
        self.wanted = wanted
        self.opening = opening
        self.reached = reached
        self.ended = ended
    }

    /// Brings both folders in step.
    ///
    /// An agent that does not answer defers the item: it may be back later, and the attempt does not count.
    ///
    /// - Throws: `SyncError`, `TreeScanError`, and what ends an attempt. The framework then tries again.
    public func run(
        _ parameters: Parameters, in context: WorkloadContext<Checkpoint>
    ) async throws -> WorkloadOutcome {
        do {
            ended(.success(try await attempt(parameters, context)))
            return .finished
        } catch {
            ended(.failure(error))
            guard case SyncError.unreachable = error else { throw error }
            return .deferred(because: "\(error)")
        }
    }

    private func attempt(
        _ parameters: Parameters, _ context: WorkloadContext<Checkpoint>
    ) async throws -> Ending {
        var options = SyncOptions()
        options.mode = parameters.mode
        options.policy = parameters.policy
        options.maximumDeletions = parameters.maximumDeletions
        options.archive = parameters.archive
        options.excludes = try ExcludeRules(parameters.excludes ?? [])
        options.wanted = wanted
        options.reached = reached
        let run = try opening(parameters, options)
        let before = context.checkpoint?.steps ?? 0
        var saved = ContinuousClock.now
        do {
            let report = try await run.run {
                try await context.breathe()
                // Before the plan is made nobody knows how many there are.
                context.report(before + run.steps, of: run.total > 0 ? before + run.total : nil, .items)
                guard ContinuousClock.now - saved > interval else { return }
                try await context.save(Checkpoint(steps: before + run.steps))
                saved = .now
            }
            return Ending(report: report, folders: run.folders)
        } catch {
            if run.steps > 0 { try? await context.save(Checkpoint(steps: before + run.steps)) }
            throw error
        }
    }
}
