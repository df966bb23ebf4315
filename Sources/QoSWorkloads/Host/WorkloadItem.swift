public import QoSCore
internal import QoSRuntime

/// A handle for an item of a store.
public struct WorkloadItem: Sendable, Identifiable {
    /// The number of the item.
    public let id: WorkloadItemID

    let host: WorkloadHost

    /// The item as the store has it; `nil` if it was removed after its end.
    public var record: WorkloadRecord? {
        get async throws { try await host.store.record(of: id) }
    }

    /// Raises the item, its dependents, and the dependencies of all of these (rules O5, O6). Running ones rise, too.
    ///
    /// - Throws: ``WorkloadStoreError`` if the item has ended.
    public func raise(to level: QoSLevel) async throws {
        try await host.store.raise(id, to: level)
        host.services.observe(.itemRaised(id, to: level))
        host.wakeSignal.wake()
    }

    /// Cancels the item. A running attempt is asked to end, and a repeating item has no further runs.
    ///
    /// - Throws: ``WorkloadStoreError`` if the item has ended.
    public func cancel(because reason: String) async throws {
        try await host.store.cancel(id, because: reason, at: host.clock.now)
        host.wakeSignal.wake()
    }

    /// Makes the item due now, whatever its schedule and conditions say. A dead item gets its attempts back.
    ///
    /// - Throws: ``WorkloadStoreError`` if the item is finished or cancelled.
    public func runNow() async throws {
        try await host.store.runNow(id, at: host.clock.now)
        host.wakeSignal.wake()
    }

    /// Starts a run after a change of files, as its ``FileEventTrigger`` says.
    ///
    /// Each call is a transaction of the store. Take the events of a quarter of the trigger's settling time together, as
    /// the host does with those that it watches itself.
    ///
    /// - Throws: ``WorkloadStoreError`` if the item has ended.
    public func noteFileChange() async throws {
        try await host.store.noteFileChange(for: id, at: host.clock.now)
        host.wakeSignal.wake()
    }

    /// Waits until the item has ended, or a repeating item's next run has. Waiting raises the item, and what it depends
    /// on, to the level of the waiting task (rule O9). A raise of the task while it waits raises them again.
    ///
    /// - Throws: `CancellationError` if the task is cancelled; ``WorkloadStoreError/unknownItem(_:)``.
    public var outcome: WorkloadItemOutcome {
        get async throws { try await waitUntilFinished() }
    }

    /// Waits until the item has ended; see ``outcome``.
    ///
    /// - Parameter promotes: whether the wait raises the item.
    public func waitUntilFinished(promotes: Bool = true) async throws -> WorkloadItemOutcome {
        let changes = host.store.changes()
        guard let begin = try await record else { throw WorkloadStoreError.unknownItem(id) }
        if let outcome = WorkloadItemOutcome(begin, since: nil) { return outcome }
        guard promotes else { return try await outcome(since: begin, changes) }
        // A raise from before the handler is seen by the look at the level, and one from after it by the handler.
        return try await withRaiseHandler(for: AwaitedItem(self)) {
            try await promote(to: QoS.currentLevel ?? QoSLevel(QoSClass(Task.currentPriority) ?? .default))
            return try await outcome(since: begin, changes)
        } raised: { awaited, level in
            awaited.raise(to: level)
        }
    }

    private func outcome(since begin: WorkloadRecord, _ changes: AsyncStream<Void>) async throws -> WorkloadItemOutcome
    {
        var (hints, latest) = (changes.makeAsyncIterator(), try await record)
        while true {
            guard let record = latest else { throw WorkloadStoreError.unknownItem(id) }
            if let outcome = WorkloadItemOutcome(record, since: begin) { return outcome }
            guard await hints.next() != nil else { throw CancellationError() }
            latest = try await self.record
        }
    }

    fileprivate func promote(to level: QoSLevel) async throws {
        do {
            try await host.store.awaited(id, at: level)
            host.services.observe(.itemRaised(id, to: level))
            host.wakeSignal.wake()
        } catch WorkloadStoreError.alreadyEnded {
            // It ended meanwhile.
        }
    }
}

/// An item that a task waits for. A raise of the task comes on any thread, which must not wait for the store.
private final class AwaitedItem: Sendable {
    private let item: WorkloadItem

    init(_ item: WorkloadItem) {
        self.item = item
    }

    func raise(to level: QoSLevel) {
        item.host.scheduler.startWorkload(at: WorkloadHost.controlClass, name: "workload-raise") { [item] in
            do {
                try await item.promote(to: level)
            } catch {
                item.host.services.observe(.storeFailed("raise of \(item.id): \(error)"))
            }
        }
    }
}

/// The end of an item, or of a run of a repeating item.
public enum WorkloadItemOutcome: Sendable, Hashable {
    /// The run succeeded.
    case finished
    /// The item was cancelled, for this reason.
    case cancelled(because: String)
    /// The attempts are used up. This is the last error.
    case failed(String)

    /// Makes the outcome of an item that has ended, or of the run that ended after an earlier look.
    init?(_ record: WorkloadRecord, since old: WorkloadRecord?) {
        switch record.state {
        case .finished: self = .finished
        case .cancelled: self = .cancelled(because: record.life.reason)
        case .dead: self = .failed(record.life.lastError ?? record.life.reason)
        default:
            guard let old else { return nil }
            if record.life.finishedRuns > old.life.finishedRuns {
                self = .finished
            } else if record.life.failedRuns > old.life.failedRuns {
                self = .failed(record.life.lastError ?? record.life.reason)
            } else {
                return nil
            }
        }
    }
}
