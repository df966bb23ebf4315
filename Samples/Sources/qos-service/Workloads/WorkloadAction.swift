internal import QoSCore
internal import QoSWorkloads

/// A change of an item that a client may ask for.
enum WorkloadAction: String, Sendable, Encodable, CaseIterable {
    /// Due now, whatever its schedule and conditions say; a dead one gets its attempts back.
    case run
    /// No item of the same workload starts, and running ones are asked to defer.
    case pause
    /// The workload goes on.
    case resume
    /// To a level that the client names.
    case raise
    /// To the level of a request that waits for it.
    case promote
    /// It ends for good.
    case cancel

    /// Whether the action makes sense for an item now.
    func fits(_ record: WorkloadRecord, isPaused: Bool) -> Bool {
        switch self {
        case .run: record.state.isWaiting || record.state == .dead
        case .pause: !record.state.isEnded && !isPaused
        case .resume: isPaused
        case .raise: !record.state.isEnded && record.level < .userInteractive
        case .promote: !record.state.isEnded && record.level < .userInitiated
        case .cancel: !record.state.isEnded
        }
    }

    /// Does it.
    ///
    /// - Throws: `WorkloadStoreError`, and errors of the store.
    func perform(on record: WorkloadRecord, _ host: WorkloadHost, level: QoSLevel?, reason: String) async throws {
        let item = host[record.id]
        switch self {
        case .run: try await item.runNow()
        case .pause: try await host.pause(record.request.name, because: reason)
        case .resume: try await host.resume(record.request.name)
        case .raise: try await item.raise(to: level ?? .userInitiated)
        case .promote: try await item.raise(to: .userInitiated)
        case .cancel: try await item.cancel(because: reason)
        }
    }
}
