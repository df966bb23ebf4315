public import QoSWorkloads

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
        /// The second folder.
        public var b: String
        /// The direction.
        public var mode: SyncMode
        /// The way out of conflicts.
        public var policy: ConflictPolicy
        /// The share of a side's entries that may be removed, in percent.
        public var maximumDeletions: Int
        /// The folder of the archives; nil for the default.
        public var archive: String?

        /// Makes parameters.
        public init(
            a: String, b: String, mode: SyncMode = .twoWay, policy: ConflictPolicy = .keepBoth,
            maximumDeletions: Int = 50, archive: String? = nil
        ) {
            self.a = a
            self.b = b
            self.mode = mode
            self.policy = policy
            self.maximumDeletions = maximumDeletions
            self.archive = archive
        }
    }

    /// The steps of all attempts so far.
    public struct Checkpoint: Codable, Sendable, Hashable {
        /// Their number.
        public var steps: Int
    }

    private let interval: Duration
    private let wanted: WantedFiles
    private let finished: @Sendable (Parameters, SyncReport, _ folders: [String]) -> Void

    /// Makes the workload.
    ///
    /// - Parameters:
    ///   - interval: The time between two checkpoints.
    ///   - wanted: The files that are copied before all others.
    ///   - finished: Takes the report of each run that came to its end, and the folders of both sides, for watches.
    public init(
        savingEvery interval: Duration = .seconds(30), wanted: WantedFiles = WantedFiles(),
        finished: @escaping @Sendable (Parameters, SyncReport, _ folders: [String]) -> Void = { _, _, _ in }
    ) {
        self.interval = interval
        self.wanted = wanted
        self.finished = finished
    }

    /// Brings both folders in step.
    ///
    /// - Throws: `SyncError`, `TreeScanError`, and what ends an attempt. The framework then tries again.
    public func run(
        _ parameters: Parameters, in context: WorkloadContext<Checkpoint>
    ) async throws -> WorkloadOutcome {
        var options = SyncOptions()
        options.mode = parameters.mode
        options.policy = parameters.policy
        options.maximumDeletions = parameters.maximumDeletions
        options.archive = parameters.archive
        options.wanted = wanted
        let run = try SyncRun(a: parameters.a, b: parameters.b, options: options)
        let before = context.checkpoint?.steps ?? 0
        var saved = ContinuousClock.now
        do {
            let report = try await run.run {
                try await context.breathe()
                context.report(before + run.steps, .items)
                guard ContinuousClock.now - saved > interval else { return }
                try await context.save(Checkpoint(steps: before + run.steps))
                saved = .now
            }
            finished(parameters, report, run.folders)
        } catch {
            if run.steps > 0 { try? await context.save(Checkpoint(steps: before + run.steps)) }
            throw error
        }
        return .finished
    }
}
