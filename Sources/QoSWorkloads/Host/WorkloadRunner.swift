internal import QoSCore

/// A workload without its types.
struct WorkloadRunner: Sendable {
    let name: WorkloadName
    let version: Int
    let timeLimit: Duration?
    /// Runs an attempt to its end.
    let run: @Sendable (Attempt, AttemptServices) async throws -> WorkloadOutcome

    init<Work: Workload>(_ workload: Work) {
        name = Work.name
        version = max(1, Work.version)
        timeLimit = workload.timeLimit
        run = { attempt, services in
            let parameters: Work.Parameters
            do {
                parameters = try WorkloadCoding.decode(Work.Parameters.self, from: attempt.record.request.parameters)
            } catch {
                throw WorkloadHostError.parametersUnreadable(Work.name, WorkloadCoding.describe(error))
            }
            let (checkpoint, restart) = Self.checkpoint(of: attempt, workload)
            if let restart {
                services.observe(.checkpointUnreadable(attempt.lease, Work.name, restart))
                try await services.store.note("restarted: \(restart)", under: attempt.lease)
            }
            let context = WorkloadContext(
                checkpoint: checkpoint, restartReason: restart, attempt: attempt, services: services)
            return try await workload.run(parameters, in: context)
        }
    }

    private static func checkpoint<Work: Workload>(
        of attempt: Attempt, _ workload: Work
    ) -> (checkpoint: Work.Checkpoint?, restart: String?) {
        guard let bytes = attempt.record.checkpoint else { return (nil, nil) }
        do {
            return (try WorkloadCoding.decode(Work.Checkpoint.self, from: bytes), nil)
        } catch {
            let mistake = "the checkpoint cannot be read: \(WorkloadCoding.describe(error))"
            do {
                let migrated = try workload.migrate(checkpoint: String(decoding: bytes, as: UTF8.self))
                return (migrated, migrated == nil ? mistake : nil)
            } catch {
                return (nil, "\(mistake); its migration failed: \(error)")
            }
        }
    }
}
