package import QoSCore

/// The rows of a store in memory, as a value. `WorkloadRules.swift` has its events.
///
/// Each table is a dictionary, and `write` keeps the indexes: queues, running items, items on file events. A
/// transaction takes as many steps as there are, so nothing is left for a later one.
package struct WorkloadTable: Sendable {
    package var rules = RuleState(stepLimit: .max)
    package private(set) var changes = 0
    package private(set) var lanes: [WorkloadLane] = []

    private var items = ItemSlots()
    private var queues = ItemQueues()
    private var graph = ItemGraph()
    private var unique: [String: WorkloadItemID] = [:]
    private var running: Set<WorkloadItemID> = []
    private var runningByKey: [String: Set<WorkloadItemID>] = [:]
    /// The times of the last claims, by concurrency key.
    private var lastUses: [String: WallTime] = [:]
    /// The items on file events, ended ones included.
    private var onFileEvents: Set<WorkloadItemID> = []
    private var gates: [Int64: WorkloadHold] = [:]
    private var paused: [WorkloadName: WorkloadHold] = [:]
    private var turns: [WorkloadFlow: Int64] = [:]

    /// Makes an empty table.
    package init() {}

    /// Writes the row of an item, and its entries in the indexes.
    private mutating func write(_ row: ItemRow) {
        let id = row.id
        changes += 1
        let old = items.write(row)
        let (wasRunning, isRunning) = (old?.state == .running, row.record.state == .running)
        if wasRunning {
            if let key = old?.key { runningByKey[key.key]?.remove(id) }
            if !isRunning { running.remove(id) }
        }
        if isRunning {
            if !wasRunning { running.insert(id) }
            if let key = row.key { runningByKey[key.key, default: []].insert(id) }
        }
        if row.record.request.schedule.isOnFileEvents {
            onFileEvents.insert(id)
        } else if !onFileEvents.isEmpty {
            onFileEvents.remove(id)
        }
        queue(row)
    }

    /// Puts an item into the queue that its row names.
    private mutating func queue(_ row: ItemRow) {
        let level = row.record.level
        let queue: ItemQueues.Queue? =
            switch row.place {
            case .none: nil
            case .due: .due
            case .lane: .lane(row.lane, level.qosClass)
            case .parked: row.key.map { .line(key: $0.key, lane: row.lane, level.qosClass, limit: $0.limit) }
            }
        // Items that wait for their time have an order of their own.
        let order = ReadyOrder(level: row.place == .due ? QoSLevel(.background) : level, due: row.record.due)
        queues.put(row.id, in: queue, order: order)
    }

    // MARK: Looking at it

    /// The number of items, ended ones included.
    package var count: Int { items.count }

    /// Returns an item as it is now; `nil` for an unknown one.
    package func record(_ id: WorkloadItemID) throws -> WorkloadRecord? {
        try items.find(id).map { try record(of: $0) }
    }

    /// Returns the items of a selection.
    ///
    /// - Complexity: O(n log n) for n items.
    package func records(matching query: WorkloadQuery) throws -> [WorkloadRecord] {
        var found: [WorkloadRecord] = []
        let ids = query.onFileEvents ? onFileEvents.sorted() : items.ids
        for id in ids where query.after.map({ $0 < id }) ?? true {
            guard found.count < query.limit else { break }
            guard query.name.map({ $0 == items[id].row.record.request.name }) ?? true, let record = try record(id),
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
            let (state, level, due) = (items[id].row.record.state, items[id].row.record.level, items[id].row.record.due)
            switch items[id].row.place {
            case .lane:
                let lane = lanes[Int(items[id].row.lane)]
                let isDeferred = paused[lane.name] != nil || gates[lane.gate] != nil
                summary.add(1, level.qosClass, isDeferred ? .deferred : .ready, due: due)
            case .parked: summary.add(1, level.qosClass, .deferred, due: due)
            case .due, .none: summary.add(1, level.qosClass, state)
            }
        }
        return summary
    }

    /// The valid leases, in the order of their items.
    package var leases: [LeaseSighting] {
        running.sorted().map { id in
            let life = items[id].row.record.life
            return LeaseSighting(
                lease: WorkloadLease(item: id, fence: life.fence), beat: life.beat, host: life.host ?? "",
                process: life.process)
        }
    }

    /// The last attempts of an item that have failed, in order; empty for an unknown one.
    package func history(of id: WorkloadItemID) -> [WorkloadAttempt] { items.contains(id) ? items[id].history : [] }
}

// MARK: - The rows

extension WorkloadTable: WorkloadRows {
    package func damage(_ what: String) -> any Error { preconditionFailure("rows in memory contradict: \(what)") }

    package func find(_ id: WorkloadItemID, isWhole: Bool) -> ItemRow? {
        items.find(id)
    }

    package func state(of id: WorkloadItemID) -> WorkloadState? {
        items.contains(id) ? items[id].row.record.state : nil
    }

    package mutating func insert(_ item: ItemRow) { write(item) }
    package mutating func update(_ item: ItemRow) { write(item) }
    package mutating func updateRequest(of item: ItemRow) { write(item) }

    package mutating func move(_ id: WorkloadItemID, to place: ItemRow.Place) {
        changes += 1
        items[id].row.place = place
        queue(items.row(of: id))
    }

    package mutating func keep(_ checkpoint: [UInt8]?, of item: inout ItemRow) -> Bool {
        guard item.record.checkpoint != checkpoint else { return false }
        item.record.checkpoint = checkpoint
        item.hasCheckpoint = checkpoint != nil
        items[item.id].row.record.checkpoint = checkpoint
        return true
    }

    package mutating func keep(_ attempt: WorkloadAttempt, of id: WorkloadItemID) {
        items[id].history.append(attempt)
        if items[id].history.count > WorkloadAttempt.kept { items[id].history.removeFirst() }
    }

    package mutating func removeEnded(
        before time: WallTime, in states: Set<WorkloadState>, atMost limit: Int
    ) -> Int {
        let old = items.ids.filter {
            let state = items[$0].row.record.state
            return state.isEnded && states.contains(state) && items[$0].row.record.life.since < time
        }
        for id in old.prefix(limit) {
            graph.remove(id)
            items.remove(id)
            onFileEvents.remove(id)
        }
        return min(old.count, limit)
    }

    // MARK: Unique keys

    package func item(withKey key: String) -> WorkloadItemID? { unique[key] }
    package mutating func setItem(_ id: WorkloadItemID, withKey key: String) { unique[key] = id }
    package mutating func pass(key: String, from id: WorkloadItemID, to other: WorkloadItemID?) {
        if unique[key] == id { unique[key] = other }
    }

    // MARK: Dependencies

    package func parents(of child: WorkloadItemID) -> [WorkloadItemID] { graph.parents[child]?.keys.sorted() ?? [] }
    package func hasParents(_ child: WorkloadItemID) -> Bool { graph.parents[child] != nil }

    package func children(
        of parent: WorkloadItemID, atMost limit: Int
    ) -> [(child: WorkloadItemID, cancels: Bool)] {
        (graph.children[parent]?.sorted() ?? []).prefix(limit).map { ($0, graph.parents[$0]?[parent] ?? false) }
    }

    package func highestLevel(ofChildrenOf parent: WorkloadItemID) -> QoSLevel? {
        graph.children[parent]?.map { items[$0].row.record.level }.max()
    }

    package func waits(_ child: WorkloadItemID, for parent: WorkloadItemID) -> Bool {
        var (open, seen) = ([child], Set([child]))
        while let id = open.popLast() {
            if id == parent { return true }
            for next in graph.parents[id]?.keys ?? [:].keys where seen.insert(next).inserted { open.append(next) }
        }
        return false
    }

    package mutating func link(_ child: WorkloadItemID, to parent: WorkloadItemID, cancels: Bool) {
        graph.link(child, to: parent, cancels: cancels)
    }

    package mutating func unlink(_ child: WorkloadItemID, from parent: WorkloadItemID?) {
        if let parent { return graph.unlink(child, from: parent) }
        for parent in parents(of: child) { graph.unlink(child, from: parent) }
    }

    package mutating func moveChildren(of old: WorkloadItemID, to new: WorkloadItemID) {
        for (child, cancels) in children(of: old, atMost: .max) where child != new {
            graph.unlink(child, from: old)
            graph.link(child, to: new, cancels: cancels)
        }
    }

    package mutating func raiseReach(
        _ ids: [WorkloadItemID], to level: QoSLevel
    ) -> (keyed: [ReadyItem], hasRunning: Bool) {
        var reach: (keyed: [ReadyItem], hasRunning: Bool) = ([], false)
        var open = ids
        while let id = open.popLast() {
            guard let state = state(of: id), !state.isEnded, items[id].row.record.level < level else { continue }
            changes += 1
            items[id].row.record.level = level
            if items[id].row.place != .none { queue(items.row(of: id)) }
            if state == .running { reach.hasRunning = true }
            if state == .ready, items[id].row.key != nil { reach.keyed.append(readyItem(id)) }
            if let parents = graph.parents[id]?.keys { open += parents }
        }
        return reach
    }

    private func readyItem(_ id: WorkloadItemID) -> ReadyItem { items.readyItem(id) }

    // MARK: Lost parents and releases

    package mutating func noteLostParents(of child: WorkloadItemID, with parent: WorkloadItemID) {
        for parent in parents(of: child) + [parent] { graph.lose(child, parent) }
    }

    package func lostParents(of child: WorkloadItemID) -> [(id: WorkloadItemID, state: WorkloadState)] {
        (graph.lostParents[child]?.sorted() ?? []).compactMap { id in state(of: id).map { (id, $0) } }
    }

    package mutating func forgetLostParents(of child: WorkloadItemID) { graph.forgetLostParents(of: child) }

    package func lostChildren(
        of parent: WorkloadItemID, behind child: WorkloadItemID, atMost limit: Int
    ) -> [WorkloadItemID] {
        Array((graph.lostChildren[parent] ?? []).filter { child < $0 }.sorted().prefix(limit))
    }

    package func nextRelease() -> (parent: WorkloadItemID, behind: WorkloadItemID)? {
        graph.releases.min { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    package mutating func setRelease(of parent: WorkloadItemID, behind child: WorkloadItemID?) {
        graph.releases[parent] = child
    }

    // MARK: Times

    package mutating func takeDue(at now: WallTime, atMost limit: Int) -> [WorkloadItemID] {
        var taken: [WorkloadItemID] = []
        while taken.count < limit, let first = queues.first(.due), first.order.due <= now {
            queues.remove(first.item)
            taken.append(first.item)
        }
        return taken
    }

    /// All of them, whatever the limit: this table is asked once.
    package func due(behind place: DuePlace, atMost limit: Int) -> [DuePlace] {
        queues.dueItems.sorted().map { DuePlace(level: 0, due: 0, item: $0.rawValue) }
    }

    package mutating func firstDue() -> WallTime? {
        let first = queues.first(.due)?.order.due
        return first == .distantFuture ? nil : first
    }

    // MARK: Lanes

    package mutating func makeLane(of record: WorkloadRecord) -> WorkloadLane {
        let (name, conditions) = (record.request.name, record.gateConditions)
        // Lanes of the same workload share its number, and lanes with the same conditions their gate.
        let id = Int64(lanes.count)
        let gate = conditions.isEmpty ? 0 : lanes.first { $0.conditions == conditions }?.gate ?? id + 1
        let workload = lanes.first { $0.name == name }?.workload ?? id + 1
        lanes.append(
            WorkloadLane(
                id: id, workload: workload, name: name, gate: gate, conditions: conditions,
                version: record.request.version))
        queues.addLane()
        return lanes[lanes.count - 1]
    }

    /// The first one, as the others of a heap are in no order.
    package mutating func fronts(
        ofLane lane: Int64, in classes: Set<QoSClass>, atMost limit: Int
    ) -> (fronts: [ReadyItem], hasMore: Bool) {
        for qosClass in QoSClass.descending where classes.contains(qosClass) {
            guard let (item, _) = queues.first(.lane(lane, qosClass)) else { continue }
            return ([readyItem(item)], true)
        }
        return ([], false)
    }

    package func overdue(dueBefore time: WallTime, atMost limit: Int) -> [(id: WorkloadItemID, level: QoSLevel)] {
        var found: [(id: WorkloadItemID, level: QoSLevel)] = []
        for id in items.ids where found.count < limit {
            let (place, level) = (items[id].row.place, items[id].row.record.level)
            guard place == .lane || place == .parked, level < QoSLevel(level.qosClass),
                items[id].row.record.due <= time
            else { continue }
            found.append((id, level))
        }
        return found
    }

    package func turns(of flow: WorkloadFlow) -> Int64 { turns[flow] ?? 0 }
    package mutating func setTurns(_ turns: Int64, of flow: WorkloadFlow) { self.turns[flow] = turns }

    package func closedGates() -> [Int64: WorkloadHold] { gates }
    package mutating func setHold(_ hold: WorkloadHold?, ofGate gate: Int64) { gates[gate] = hold }
    package func hold(ofLane lane: Int64) -> WorkloadHold? { gates[lanes[Int(lane)].gate] }
    package func holds() -> [WorkloadName: WorkloadHold] { paused }
    package mutating func setHold(_ hold: WorkloadHold?, of name: WorkloadName) { paused[name] = hold }

    package func displayName(of id: WorkloadItemID) -> String? {
        items.contains(id) ? items[id].row.record.displayName : nil
    }

    // MARK: Concurrency keys

    package func runningCount(ofKey key: String) -> Int { runningByKey[key]?.count ?? 0 }
    package func running(withKey key: String) -> [WorkloadItemID] { Array(runningByKey[key] ?? []) }
    package func lastUse(ofKey key: String) -> WallTime? { lastUses[key] }

    package mutating func setLastUse(_ time: WallTime?, ofKey key: String) {
        lastUses[key] = time
        if time == nil { runningByKey[key] = nil }
    }

    package mutating func unpark(_ lines: KeyLines, above running: Int) -> Bool {
        var hasMoved = false
        for queue in queues.lines(ofKey: lines.key) {
            guard case .line(_, let lane, let qosClass, let limit) = queue, limit > running,
                lines.lane.map({ $0 == lane }) ?? true, lines.limit.map({ $0 == limit }) ?? true,
                lines.qosClass.map({ $0 == qosClass }) ?? true, let first = queues.first(queue)
            else { continue }
            move(first.item, to: .lane)
            hasMoved = true
        }
        return hasMoved
    }

    // MARK: Leases

    package mutating func renew(_ leases: [WorkloadLease]) {
        for lease in leases where items.contains(lease.item) {
            _ = items[lease.item].row.record.life.renewed(under: lease.fence)
        }
    }

    package func standings(of leases: [WorkloadLease]) -> [WorkloadLease: LeaseStanding] {
        var standings: [WorkloadLease: LeaseStanding] = [:]
        for lease in leases {
            guard let record = find(lease.item, isWhole: false)?.record, record.life.isHeld(under: lease.fence) else {
                standings[lease] = .lost
                continue
            }
            standings[lease] = .held(
                LeaseTerms(
                    level: record.level, cancellation: record.life.cancellation,
                    deferral: paused[record.request.name]?.reason))
        }
        return standings
    }
}

// MARK: - Parts

/// The rows of items, in an array, so that a look at one field copies nothing else.
private struct ItemSlots: Sendable {
    struct Entry: Sendable {
        var row: ItemRow
        /// The last attempts that have failed.
        var history: [WorkloadAttempt] = []
    }

    private var slots: [Entry] = []
    private var places: [WorkloadItemID: Int] = [:]
    private var free: [Int] = []

    var count: Int { places.count }

    /// The items, in order.
    ///
    /// - Complexity: O(n log n).
    var ids: [WorkloadItemID] { places.keys.sorted() }

    func contains(_ id: WorkloadItemID) -> Bool { places[id] != nil }

    /// A copy of the row of an item; `nil` for an unknown one.
    func find(_ id: WorkloadItemID) -> ItemRow? {
        guard let place = places[id] else { return nil }
        return slots[place].row
    }

    /// A copy of the row of an item that exists.
    func row(of id: WorkloadItemID) -> ItemRow { slots[places[id]!].row }

    /// What the indexes have of an item that exists.
    func readyItem(_ id: WorkloadItemID) -> ReadyItem {
        let place = places[id]!
        return ReadyItem(
            id: id, level: slots[place].row.record.level, due: slots[place].row.record.due,
            place: slots[place].row.place, lane: slots[place].row.lane, key: slots[place].row.key)
    }

    /// The entry of an item that exists, to look at a field or to change it. For a whole row there is ``row(of:)``: passed
    /// on from here to a method that changes the table, it was released twice in debug builds (Swift 6.3).
    subscript(id: WorkloadItemID) -> Entry {
        _read { yield slots[places[id]!] }
        _modify { yield &slots[places[id]!] }
    }

    /// Adds an item, or replaces its row.
    ///
    /// - Returns: what the indexes had of the old row; `nil` for a new item.
    mutating func write(_ row: ItemRow) -> (state: WorkloadState, key: ConcurrencyKey?)? {
        if let place = places[row.id] {
            let old = (slots[place].row.record.state, slots[place].row.key)
            slots[place].row = row
            return old
        }
        if let place = free.popLast() {
            slots[place] = Entry(row: row)
            places[row.id] = place
        } else {
            places[row.id] = slots.count
            slots.append(Entry(row: row))
        }
        return nil
    }

    /// Removes an item. Its entry stays in memory until the place is used again.
    mutating func remove(_ id: WorkloadItemID) {
        if let place = places.removeValue(forKey: id) { free.append(place) }
    }
}

/// The edges between items, each in both directions. No item has an empty list.
private struct ItemGraph: Sendable {
    /// The unfinished parents of unfinished children. `true`: the child is cancelled if the parent fails.
    private(set) var parents: [WorkloadItemID: [WorkloadItemID: Bool]] = [:]
    private(set) var children: [WorkloadItemID: Set<WorkloadItemID>] = [:]
    /// The parents that a cancelled item waited for, if it was cancelled because of one of them.
    private(set) var lostParents: [WorkloadItemID: Set<WorkloadItemID>] = [:]
    private(set) var lostChildren: [WorkloadItemID: Set<WorkloadItemID>] = [:]
    /// The items whose lost children are to be revived. Empty between two events.
    var releases: [WorkloadItemID: WorkloadItemID] = [:]

    mutating func link(_ child: WorkloadItemID, to parent: WorkloadItemID, cancels: Bool) {
        parents[child, default: [:]][parent] = cancels
        children[parent, default: []].insert(child)
    }

    mutating func unlink(_ child: WorkloadItemID, from parent: WorkloadItemID) {
        parents[child]?[parent] = nil
        if parents[child]?.isEmpty == true { parents[child] = nil }
        Self.remove(child, from: parent, &children)
    }

    mutating func lose(_ child: WorkloadItemID, _ parent: WorkloadItemID) {
        lostParents[child, default: []].insert(parent)
        lostChildren[parent, default: []].insert(child)
    }

    mutating func forgetLostParents(of child: WorkloadItemID) {
        for parent in lostParents.removeValue(forKey: child) ?? [] { Self.remove(child, from: parent, &lostChildren) }
    }

    /// Removes an ended item, which has no other edges than lost ones.
    mutating func remove(_ id: WorkloadItemID) {
        forgetLostParents(of: id)
        for child in lostChildren.removeValue(forKey: id) ?? [] { Self.remove(id, from: child, &lostParents) }
    }

    private static func remove(
        _ id: WorkloadItemID, from key: WorkloadItemID, _ sets: inout [WorkloadItemID: Set<WorkloadItemID>]
    ) {
        sets[key]?.remove(id)
        if sets[key]?.isEmpty == true { sets[key] = nil }
    }
}
