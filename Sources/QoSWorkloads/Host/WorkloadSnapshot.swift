public import QoSCore
internal import QoSKernel

/// The items of a store at one moment, as a host sees them: for pages, metrics and tools.
public struct WorkloadSnapshot: Sendable, Hashable {
    /// An item with the judgement of its conditions.
    public struct Item: Sendable, Hashable, Identifiable {
        /// The item as the store has it. The progress of an attempt of this host is the latest one.
        public internal(set) var record: WorkloadRecord
        /// The judgement of each condition on this host's machine, in the order of their labels.
        public let conditions: [Judgement]
        /// The reason for which an attempt of this host pauses; `nil` if none does.
        public let pause: String?
        /// The time since when the item waits or pauses; `nil` if it does neither.
        public let waiting: Duration?
        /// The labels of what defers the item: of unmet conditions, `paused`, or `limit`. Empty if nothing does.
        public let obstacles: [String]

        /// The number of the item.
        public var id: WorkloadItemID { record.id }
        /// Whether the item was raised above its requested level.
        public var isPromoted: Bool { record.request.level < record.level }
        /// Whether the item waits for its conditions, running or not.
        public var isDeferred: Bool { record.state == .deferred || pause != nil }
    }

    /// A condition and its judgement.
    public struct Judgement: Sendable, Hashable {
        /// The condition.
        public let condition: WorkloadCondition
        /// The judgement now.
        public let verdict: ConditionVerdict
    }

    /// The items of one class, by effective level.
    public struct Lane: Sendable, Hashable {
        /// The number of items that run and do not pause.
        public internal(set) var running = 0
        /// The number of items that are ready for a host.
        public internal(set) var ready = 0
        /// The number of items that wait for conditions, or for a place of their key.
        public internal(set) var deferred = 0
        /// The number of items that wait for other items.
        public internal(set) var blocked = 0
        /// The number of items that wait for their time.
        public internal(set) var scheduled = 0
        /// The longest time since which a ready or deferred item is due.
        public internal(set) var oldestWait: Duration?
    }

    /// The time of the snapshot.
    public let time: WallTime
    /// The same on the host's monotonic clock, for differences.
    public let elapsed: Duration
    /// The unfinished items, then the dead ones, then the last that ended.
    public let items: [Item]
    /// Whether `items` has all unfinished items.
    public let isComplete: Bool
    /// The lanes of all classes. They count all items of the store, also those that the snapshot leaves out.
    public let lanes: [QoSClass: Lane]
    /// The paused workloads with their reasons.
    public let pauses: [WorkloadName: String]
}

extension WorkloadHost {
    /// Takes a snapshot of the store.
    ///
    /// - Parameters:
    ///   - limit: the largest number of unfinished items, and of dead ones.
    ///   - ended: the largest number of items that finished or were cancelled.
    /// - Complexity: O(limit) with a store that counts its items, as `SQLiteStore` does, and one pass over the ended items
    ///   that the store keeps, if any are wanted.
    /// - Throws: errors of the store.
    public func snapshot(limit: Int = 1000, ended: Int = 0) async throws -> WorkloadSnapshot {
        let pauses = try await store.pauses()
        let open = Set(WorkloadState.allCases.filter { !$0.isEnded })
        var records = try await store.records(matching: WorkloadQuery(states: open, limit: limit + 1))
        let isComplete = records.count <= limit
        if !isComplete { records.removeLast() }
        records += try await store.records(matching: WorkloadQuery(states: [.dead], limit: limit))
        records += try await lastEnded(ended)
        let summary = try await store.summary()
        let now = clock.now
        let own = Dictionary(attempts.map { ($0.lease.item, $0) }, uniquingKeysWith: { $1 })
        let items = records.map { item($0, own[$0.id], pauses, at: now) }
        return WorkloadSnapshot(
            time: now, elapsed: clock.elapsed, items: items, isComplete: isComplete,
            lanes: lanes(of: summary, items, at: now),
            pauses: pauses)
    }

    /// Returns an item with the judgement of its conditions; `nil` for an unknown one.
    ///
    /// - Throws: errors of the store.
    public func snapshot(of id: WorkloadItemID) async throws -> WorkloadSnapshot.Item? {
        guard let record = try await store.record(of: id) else { return nil }
        return item(record, attempts.first { $0.lease.item == id }, try await store.pauses(), at: clock.now)
    }

    private func lastEnded(_ count: Int) async throws -> [WorkloadRecord] {
        guard count > 0 else { return [] }
        var query = WorkloadQuery(states: [.finished, .cancelled], limit: 1000)
        var last: [WorkloadRecord] = []
        while true {
            let page = try await store.records(matching: query)
            last = (last + page).suffix(count)
            guard page.count == query.limit, let end = page.last else { return last }
            query.after = end.id
        }
    }

    private func item(
        _ stored: WorkloadRecord, _ attempt: Attempt?, _ pauses: [WorkloadName: String], at now: WallTime
    ) -> WorkloadSnapshot.Item {
        var record = stored
        let conditions = record.request.conditions.sorted { $0.label < $1.label }.map {
            WorkloadSnapshot.Judgement(condition: $0, verdict: judge.verdict(on: $0))
        }
        var pause: String?
        var wait: Duration?
        if record.state == .running, let attempt, attempt.lease.fence == record.life.fence {
            switch attempt.signals.request {
            case .wait(let reason), .stop(let reason): pause = reason
            case .none, .cancel: break
            }
            let (progress, since) = attempt.state.withLock { ($0.progress, $0.unmetSince) }
            record.progress = progress ?? record.progress
            if pause != nil { wait = since.map { clock.elapsed - $0 } ?? .zero }
        } else if record.state.isWaiting {
            wait = max(.zero, record.life.since.duration(to: now))
        }
        var obstacles: [String] = []
        if record.state == .deferred || pause != nil {
            obstacles = conditions.filter { $0.verdict != .met }.map(\.condition.label)
            if pauses[record.request.name] != nil { obstacles.append("paused") }
            if obstacles.isEmpty, record.state == .deferred { obstacles = ["limit"] }
        }
        return WorkloadSnapshot.Item(
            record: record, conditions: conditions, pause: pause, waiting: wait, obstacles: obstacles)
    }

    /// The lanes of a summary. Attempts of this host that pause count as deferred.
    private func lanes(
        of summary: WorkloadSummary, _ items: [WorkloadSnapshot.Item], at now: WallTime
    ) -> [QoSClass: WorkloadSnapshot.Lane] {
        var lanes: [QoSClass: WorkloadSnapshot.Lane] = [:]
        for qosClass in QoSClass.allCases {
            var lane = WorkloadSnapshot.Lane()
            lane.running = summary[qosClass, .running].count
            lane.ready = summary[qosClass, .ready].count
            lane.deferred = summary[qosClass, .deferred].count
            lane.blocked = summary[qosClass, .blocked].count
            lane.scheduled = summary[qosClass, .scheduled].count
            let due = [summary[qosClass, .ready].oldestDue, summary[qosClass, .deferred].oldestDue].compactMap { $0 }
            lane.oldestWait = due.min().map { max(.zero, $0.duration(to: now)) }
            for item in items where item.pause != nil && item.record.level.qosClass == qosClass {
                lane.running = max(0, lane.running - 1)
                lane.deferred += 1
                lane.oldestWait = max(lane.oldestWait ?? .zero, item.waiting ?? .zero)
            }
            lanes[qosClass] = lane
        }
        return lanes
    }
}
