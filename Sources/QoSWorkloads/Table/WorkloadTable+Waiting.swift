internal import QoSCore

extension WorkloadTable {
    /// Puts a waiting item into the queue that fits: due, none while it has parents, its lane, or its key's line.
    mutating func settle(
        _ id: WorkloadItemID, because reason: String? = nil, at now: WallTime, _ effects: inout TableEffects
    ) {
        unqueue(id)
        let record = self[id].record
        guard record.state.isWaiting else { return }
        let hasParents = !self[id].parents.isEmpty
        self[id].record.settle(because: reason, hasParents: hasParents, at: now)
        guard record.due <= now else {
            due.insert(.init(order: record.due, item: id, stamp: stamped(id, .due)))
            effects.hasScheduled = true
            return
        }
        guard !hasParents else { return }
        enterLane(id)
        effects.hasReady = true
        if let holders = holders(blocking: id) { raise(holders, to: record.level, &effects) }
    }

    /// The running items that take all places of the item's key, by its own limit; `nil` if a place is free.
    func holders(blocking id: WorkloadItemID) -> Set<WorkloadItemID>? {
        guard let key = self[id].record.request.concurrency, let use = keys[key.key], use.running.count >= key.limit
        else { return nil }
        return use.running
    }

    /// Puts a ready item into its lane, or into its line of the full key.
    private mutating func enterLane(_ id: WorkloadItemID) {
        let record = self[id].record
        let lane = Lane.Key(
            name: record.request.name, gate: gate(of: record), version: record.request.version)
        let order = ReadyOrder(level: record.level, due: record.due)
        if let key = record.request.concurrency, holders(blocking: id) != nil {
            let line = Line(lane: lane, qosClass: record.level.qosClass, limit: key.limit)
            let entry = StampedHeap.Entry(order: order, item: id, stamp: stamped(id, .parked(line)))
            keys[key.key]?.parked[line, default: StampedHeap()].insert(entry)
        } else {
            let qosClass = record.level.qosClass
            let entry = StampedHeap.Entry(order: order, item: id, stamp: stamped(id, .lane(lane, qosClass)))
            lanes[lane, default: Lane()].ready[qosClass.rank].insert(entry)
        }
    }

    private mutating func stamped(_ id: WorkloadItemID, _ place: Place) -> UInt64 {
        lastStamp += 1
        self[id].place = place
        self[id].stamp = lastStamp
        return lastStamp
    }

    /// Takes an item out of its queue. Its entry there is invalid from now on. The next item of its line takes its place.
    mutating func unqueue(_ id: WorkloadItemID) {
        guard let place = self[id].place else { return }
        self[id].place = nil
        self[id].stamp = 0
        let items = self.items
        switch place {
        case .due: due.drop { items.stamp(of: $0.item) == $0.stamp }
        case .lane(let lane, let qosClass):
            lanes[lane]?.ready[qosClass.rank].drop { items.stamp(of: $0.item) == $0.stamp }
            guard let key = items[id].record.request.concurrency else { return }
            fill(Line(lane: lane, qosClass: qosClass, limit: key.limit), of: key.key)
        case .parked(let line):
            guard let key = items[id].record.request.concurrency else { return }
            keys[key.key]?.parked[line]?.drop { items.stamp(of: $0.item) == $0.stamp }
        }
    }

    /// Puts an item into its queue again after a change of its level.
    mutating func requeue(_ id: WorkloadItemID) {
        switch self[id].place {
        case .lane, .parked:
            unqueue(id)
            enterLane(id)
        case .due, nil: break
        }
    }

    /// Returns the first item of a lane in the highest of some classes. On the way it parks items whose keys are full.
    mutating func head(
        of key: Lane.Key, classes: Set<QoSClass>
    ) -> (entry: StampedHeap<ReadyOrder>.Entry, qosClass: QoSClass)? {
        for qosClass in QoSClass.descending where classes.contains(qosClass) {
            while let entry = firstReady(key, qosClass) {
                guard holders(blocking: entry.item) != nil else { return (entry, qosClass) }
                requeue(entry.item)
            }
        }
        return nil
    }

    // Each of these has a scope of its own: a table that is held while it changes is copied.

    private mutating func firstReady(_ key: Lane.Key, _ qosClass: QoSClass) -> StampedHeap<ReadyOrder>.Entry? {
        let items = self.items
        return lanes[key]?.ready[qosClass.rank].first { items.stamp(of: $0.item) == $0.stamp }
    }

    private mutating func firstParked(_ key: String, _ line: Line) -> StampedHeap<ReadyOrder>.Entry? {
        let items = self.items
        return keys[key]?.parked[line]?.first { items.stamp(of: $0.item) == $0.stamp }
    }

    mutating func firstDue() -> StampedHeap<WallTime>.Entry? {
        let items = self.items
        return due.first { items.stamp(of: $0.item) == $0.stamp }
    }

    /// Moves the first parked item of each line into its lane if the key has a free place for it.
    mutating func refill(_ key: ConcurrencyKey?, _ effects: inout TableEffects) {
        guard let key, let lines = keys[key.key].map({ Array($0.parked.keys) }) else { return }
        for line in lines where fill(line, of: key.key) { effects.hasReady = true }
        if let use = keys[key.key], use.parked.isEmpty, use.running.isEmpty { keys[key.key] = nil }
    }

    /// Moves the first parked item of a line into its lane if the key has a free place for it.
    ///
    /// - Returns: whether it moved one.
    @discardableResult
    private mutating func fill(_ line: Line, of key: String) -> Bool {
        guard let running = keys[key]?.running.count, running < line.limit else { return false }
        guard let first = firstParked(key, line) else {
            keys[key]?.parked[line] = nil
            return false
        }
        requeue(first.item)
        return true
    }

    /// Moves the items whose time has come.
    mutating func settleDue(at now: WallTime, _ effects: inout TableEffects) {
        while let first = firstDue(), first.order <= now {
            self[first.item].record.skipMissedRun(at: now)
            settle(first.item, at: now, &effects)
        }
    }

    /// Notes the time of an event. If the clock was set back, delays begin anew, and runs are planned anew.
    mutating func clockRead(_ now: WallTime, _ effects: inout TableEffects) {
        guard let latest, now < latest else {
            latest = now
            settleDue(at: now, &effects)
            return
        }
        // Two hosts read the clock at slightly different moments.
        guard now.duration(to: latest) > .seconds(1) else { return }
        self.latest = now
        for id in items.ids where self[id].place == .due && self[id].record.clockSetBack(to: now) {
            settle(id, at: now, &effects)
        }
    }
}
