public import QoSCore
internal import QoSKernel

/// The surroundings of an attempt: its checkpoint, its progress, and the requests to stop.
///
/// Threading: any thread; usually the workload's task and its children.
public struct WorkloadContext<Checkpoint: Codable & Sendable>: Sendable {
    /// The checkpoint from which the attempt continues; `nil` at the beginning.
    public let checkpoint: Checkpoint?
    /// The reason why a stored checkpoint was not used; `nil` usually.
    public let restartReason: String?

    let attempt: Attempt
    let services: AttemptServices

    /// The name of the workload.
    public var name: WorkloadName { attempt.record.request.name }

    /// The number of the item.
    public var item: WorkloadItemID { attempt.record.id }

    /// The lease. Give its fence to outputs that can refuse a lower one.
    public var lease: WorkloadLease { attempt.lease }

    /// The number of the attempt, from 1.
    public var attemptNumber: Int { attempt.record.life.attempts }

    /// The effective level of the item. It rises when the item is promoted.
    public var level: QoSLevel { attempt.state.withLock { $0.level } }

    /// The time until the attempt is cancelled because of ``Workload/timeLimit``; `nil` without a limit.
    public var timeRemaining: Duration? {
        attempt.deadline.map { max(.zero, $0 - services.clock.elapsed) }
    }

    /// Whether the attempt should stop soon: a condition does not hold, the workload is paused, the host ends, the item
    /// was cancelled, or the lease is lost.
    ///
    /// - Complexity: O(1), one relaxed atomic load.
    @inline(__always)
    public var shouldDefer: Bool { attempt.signals.hasRequest }

    /// The reason of ``shouldDefer``; `nil` without one.
    public var deferralReason: String? {
        switch attempt.signals.request {
        case .none: nil
        case .wait(let reason), .stop(let reason), .cancel(let reason): reason
        }
    }

    /// Suspends while a condition of the item does not hold. Costs an atomic load and a look at the task if all hold.
    ///
    /// Call it between small pieces of work.
    ///
    /// - Throws: ``WorkloadDeferral`` when the item should continue later, and `CancellationError` when it should end.
    ///   Let both pass.
    public func breathe() async throws {
        while attempt.signals.hasRequest {
            switch attempt.signals.request {
            case .none: return
            case .wait(let reason):
                try Task.checkCancellation()
                await attempt.signals.waitWhile(.wait(reason))
            case .stop(let reason): throw WorkloadDeferral(reason: reason)
            case .cancel: throw CancellationError()
            }
        }
        try Task.checkCancellation()
    }

    /// Runs an operation, and calls a handler whenever the attempt should stop soon: at each new reason, and at once if
    /// there is one.
    ///
    /// It is for work that cannot ``breathe()`` for long, such as a child process or a request to another machine. The
    /// handler ends that work, and the operation then breathes.
    ///
    /// - Parameters:
    ///   - operation: the work. It runs where the caller runs.
    ///   - handler: runs on the host's thread, or on the caller's. It must be short, must not block, and must not call
    ///     the host. It may run once more while the operation ends.
    /// - Throws: the error of the operation.
    public func withDeferralHandler<Success>(
        operation: () async throws -> Success, onRequest handler: @escaping @Sendable () -> Void
    ) async rethrows -> Success {
        let number = attempt.signals.add(handler)
        defer { attempt.signals.remove(number) }
        return try await operation()
    }

    /// Stores a checkpoint. After the return, a later attempt starts from it or from a newer one.
    ///
    /// - Throws: ``WorkloadStoreError/leaseLost(_:)`` if another host has the item; errors of the store.
    public func save(_ checkpoint: Checkpoint) async throws {
        let bytes = try WorkloadCoding.encode(checkpoint)
        attempt.lives(at: services.clock.elapsed)
        let progress = attempt.state.withLock { $0.progress }
        try await services.store.save(bytes, progress, under: attempt.lease)
        if bytes != attempt.record.checkpoint { attempt.state.withLock { $0.hasProgressed = true } }
    }

    /// Reports a progress. The store has it with the next checkpoint, or with the next renewal of the lease.
    public func report(_ completed: Int, of total: Int? = nil, _ unit: WorkloadProgress.Unit = .items) {
        attempt.lives(at: services.clock.elapsed)
        attempt.state.withLock { $0.progress = WorkloadProgress(completed, of: total, unit) }
    }

    /// Waits for its share of the machine's input and output, if the host has a throttle.
    ///
    /// - Parameters:
    ///   - bytes: the number of bytes that the workload is about to read or write.
    ///   - operations: the number of operations.
    /// - Throws: `CancellationError`.
    public func throttle(bytes: Int, operations: Int = 1) async throws {
        attempt.lives(at: services.clock.elapsed)
        try await services.throttle?(bytes, operations, level.qosClass)
    }
}
