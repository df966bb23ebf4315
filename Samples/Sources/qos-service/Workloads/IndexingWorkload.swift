internal import Indexing
internal import QoSSQLiteStore

/// A pass over the folder, as a workload.
///
/// The database commits each step, so the checkpoint only saves the second walk of the folder. An index that is
/// damaged, or whose files were removed, is made anew. After any other failure the framework tries again.
struct IndexingWorkload: Workload {
    static let name: WorkloadName = "indexing"

    /// The conditions under which the recommended policy stops the background. Here the pass suspends instead, so it
    /// can always be seen, cancelled and ended.
    static let conditions: Set<WorkloadCondition> = [
        .thermal(atMost: .fair), .notInLowPowerMode, .pressure(.memory, below: .severe),
        .pressure(.freeMemory, below: .severe), .pressure(.freeDisk, below: .severe),
    ]

    /// The time between two checkpoints of a long pass.
    private static let saveInterval = Duration.seconds(5)

    struct Parameters: Codable, Sendable {
        /// The indexed folder, for people: the index knows its own.
        var folder: String
    }

    typealias Checkpoint = PassCheckpoint

    let index: SearchIndex
    /// Takes the error of an index that cannot be made anew. Nothing helps then but another start.
    let giveUp: @Sendable (any Error) -> Void
    /// Called before each step and each checkpoint. For tests.
    var reached: @Sendable (String) -> Void = { _ in }

    func run(_ parameters: Parameters, in context: WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome {
        var checkpoint = context.checkpoint
        while true {
            do {
                let pass = try index.makePass(from: checkpoint)
                try await run(pass, in: context)
                return .finished
            } catch IndexError.damaged(_, let detail) {
                try rebuild(because: detail)
            } catch IndexError.lost {
                try rebuild(because: "its files are gone")
            }
            checkpoint = nil
        }
    }

    private func rebuild(because detail: String) throws {
        do {
            try index.rebuild(because: detail)
        } catch {
            giveUp(error)
            throw error
        }
    }

    private func run(_ pass: IndexPass, in context: WorkloadContext<Checkpoint>) async throws {
        var saved = ContinuousClock.now
        var wasScanned = pass.checkpoint.isScanned
        do {
            // A conversion takes up to a minute. It does not outlast a request to give way.
            let conversions = pass.conversions
            try await context.withDeferralHandler {
                try await pass.run { pass in
                    reached("indexing.step")
                    try await context.breathe()
                    let counts = index.status.counts
                    context.report(counts.files - counts.pending, of: counts.files, .files)
                    let checkpoint = pass.checkpoint
                    guard checkpoint.isScanned != wasScanned || ContinuousClock.now - saved > Self.saveInterval else {
                        return
                    }
                    (saved, wasScanned) = (.now, checkpoint.isScanned)
                    try await keep(checkpoint, in: context)
                }
            } onRequest: {
                conversions.stop()
            }
        } catch let deferral as WorkloadDeferral {
            try await keep(pass.checkpoint, in: context)
            throw deferral
        }
    }

    /// Saves a checkpoint. A store that fails, as on a full disk, does not end the pass.
    private func keep(_ checkpoint: PassCheckpoint, in context: WorkloadContext<Checkpoint>) async throws {
        reached("indexing.checkpoint")
        do { try await context.save(checkpoint) } catch is SQLiteStoreError {}
    }
}
