internal import QoSCore

/// The items of a store, as a value. It decides states, claims, promotions and refusals (rules O5, O6, O8–O11).
///
/// [Workloads](../../../Docs/Inside/Protocols/workloads.md) has the protocol. A *child* depends on its *parents*, which
/// end first. Time is an argument. Events note their actions in a ``TableEffects``. Nothing recurses.
///
/// Items that wait only for a host are in lanes: one for each workload and gate. Closing a lane defers all of its items
/// at once; their state is derived when it is read.
package struct WorkloadTable: Sendable {
    struct Entry: Sendable {
        var record: WorkloadRecord
        /// The place in a queue; `nil` for an item that is in none.
        var place: Place?
        /// The number of the valid entry in the queue.
        var stamp: UInt64 = 0
        /// The unfinished parents. `true`: the item runs whatever becomes of this one.
        var parents: [WorkloadItemID: Bool] = [:]
        /// The unfinished children.
        var children: Set<WorkloadItemID> = []
        /// The last attempts that have failed.
        var history: [WorkloadAttempt] = []
        /// The parents that a cancelled item waited for, if it was cancelled because of one of them.
        var lostParents: Set<WorkloadItemID> = []
        /// The cancelled items that have this one among their lost parents.
        var lostChildren: Set<WorkloadItemID> = []
    }

    enum Place: Sendable, Hashable {
        case due
        case lane(Lane.Key, QoSClass)
        case parked(Line)
    }

    /// The items of a key that wait in the same lane and class, with the same limit. They differ in nothing but their
    /// order, so a host that can run one of them can run each.
    struct Line: Sendable, Hashable {
        var lane: Lane.Key
        var qosClass: QoSClass
        var limit: Int
    }

    /// The items of a workload with the same conditions that wait for a host. One queue for each class.
    struct Lane: Sendable {
        struct Key: Sendable, Hashable {
            var name: WorkloadName
            var gate: Int
            /// The version of the parameters.
            var version: Int
        }

        var ready = QoSClass.allCases.map { _ in StampedHeap<ReadyOrder>() }

        var live: Int { ready.reduce(0) { $0 + $1.live } }
    }

    /// A set of conditions, as a host judged it last.
    struct Gate: Sendable {
        var conditions: Set<WorkloadCondition>
        var closed: (reason: String, since: WallTime)?
    }

    /// The items with the same concurrency key.
    struct KeyUse: Sendable {
        var running: Set<WorkloadItemID> = []
        /// The time of the last claim.
        var since: WallTime
        /// Items that found no place, by line. An item may also wait in its lane, and is parked when it gets to the
        /// front. While there is a place for a line, its first item is in the lane.
        var parked: [Line: StampedHeap<ReadyOrder>] = [:]
    }

    /// The turns of a workload in a class.
    struct Flow: Sendable, Hashable {
        var name: WorkloadName
        var qosClass: QoSClass
    }

    var items = ItemSlots()
    package var lastID: Int64 = 0
    var lastStamp: UInt64 = 0
    /// The latest time that the table was given.
    var latest: WallTime?
    var due = StampedHeap<WallTime>()
    var lanes: [Lane.Key: Lane] = [:]
    var gates = [Gate(conditions: [])]
    var gateNumbers: [Set<WorkloadCondition>: Int] = [[]: 0]
    var paused: [WorkloadName: (reason: String, since: WallTime)] = [:]
    var keys: [String: KeyUse] = [:]
    var unique: [String: WorkloadItemID] = [:]
    var running: Set<WorkloadItemID> = []
    /// Changes with each request to the holder of a lease.
    var mark: UInt64 = 0
    /// The items on file events, ended ones included.
    var onFileEvents: Set<WorkloadItemID> = []
    var turns: [Flow: Int] = [:]
    /// The turn of the last claim of each class.
    var lastTurn = QoSClass.allCases.map { _ in 0 }
    // A work list of single events, empty between them.
    var raised: [WorkloadItemID] = []

    /// Makes an empty table.
    package init() {}

    /// The entry of an item that exists.
    subscript(id: WorkloadItemID) -> Entry {
        get { items[id] }
        _modify { yield &items[id] }
    }

    // MARK: Looking at it

    /// The number of items, ended ones included.
    package var count: Int { items.count }

    /// Returns an item as it is now; `nil` for an unknown one.
    package func record(_ id: WorkloadItemID) -> WorkloadRecord? {
        guard items.contains(id) else { return nil }
        let entry = items[id]
        var record = entry.record
        record.waitsFor = entry.parents.keys.sorted()
        switch record.state {
        case .ready:
            if let (reason, since) = deferral(of: entry) {
                record.life = record.life.deferred(because: reason, since: since)
            }
        case .blocked:
            if let first = record.waitsFor.first {
                let name = items[first].record.displayName
                let others = record.waitsFor.count - 1
                let reason = WorkloadRecord.reason(waitingFor: name, others: others)
                record.life.waitChanged(to: .parents(reason), at: record.life.since)
            }
        default: break
        }
        return record
    }

    /// Returns why an item that is ready by itself has to wait; `nil` if it need not.
    private func deferral(of entry: Entry) -> (reason: String, since: WallTime)? {
        let record = entry.record
        if let pause = paused[record.request.name] { return pause }
        if let key = record.request.concurrency, let use = keys[key.key], use.running.count >= key.limit {
            return (WorkloadRecord.reason(running: use.running.count, of: key), use.since)
        }
        return gates[gate(of: record)].closed
    }

    /// Returns the items of a selection.
    ///
    /// - Complexity: O(n log n) for n items.
    package func records(matching query: WorkloadQuery) -> [WorkloadRecord] {
        var found: [WorkloadRecord] = []
        let ids = query.onFileEvents ? onFileEvents.sorted() : items.ids
        for id in ids where query.after.map({ $0 < id }) ?? true {
            guard found.count < query.limit else { break }
            guard query.name.map({ $0 == self[id].record.request.name }) ?? true, let record = record(id),
                query.states.isEmpty || query.states.contains(record.state)
            else { continue }
            found.append(record)
        }
        return found
    }

    /// The number of items by class and state.
    ///
    /// - Complexity: O(n) for n items, without a copy of any.
    package var summary: WorkloadSummary {
        var summary = WorkloadSummary()
        for id in items.ids {
            let (state, level, due) = (items[id].record.state, items[id].record.level, items[id].record.due)
            switch items[id].place {
            case .lane(let key, let qosClass):
                let isDeferred = paused[key.name] != nil || gates[key.gate].closed != nil
                summary.add(1, qosClass, isDeferred ? .deferred : .ready, due: due)
            case .parked(let line): summary.add(1, line.qosClass, .deferred, due: due)
            case .due, nil: summary.add(1, level.qosClass, state)
            }
        }
        return summary
    }

    /// The valid leases, in the order of their items.
    package var leases: [LeaseSighting] { running.sorted().map { sighting(of: $0) } }

    func sighting(of id: WorkloadItemID) -> LeaseSighting {
        let life = self[id].record.life
        return LeaseSighting(
            lease: WorkloadLease(item: id, fence: life.fence), beat: life.beat, host: life.host ?? "",
            process: life.process)
    }

    /// The time at which the next item is due; `nil` if no item waits for its time.
    package mutating func nextDue() -> WallTime? {
        let first = firstDue()?.order
        return first == .distantFuture ? nil : first
    }

    /// The number of the gate of an item.
    func gate(of record: WorkloadRecord) -> Int {
        record.ignoresConditions ? 0 : gateNumbers[record.request.conditions] ?? 0
    }

    /// The last attempts of an item that have failed, in order; empty for an unknown one.
    package func history(of id: WorkloadItemID) -> [WorkloadAttempt] { items.contains(id) ? items[id].history : [] }

    /// The unfinished item with a unique key.
    package func item(withKey key: String) -> WorkloadItemID? { unique[key] }
}
