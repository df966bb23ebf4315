package import QoSCore

extension WorkloadTable {
    /// Raises an item to a level (rule O6), its children, and the parents of all of these (rule O5).
    ///
    /// - Complexity: O(log n) for each item that rises.
    package mutating func raised(
        _ id: WorkloadItemID, to level: QoSLevel, _ effects: inout TableEffects
    ) throws(WorkloadStoreError) {
        let record = try unfinished(id)
        guard record.level < level else { return }
        raise(Array(self[id].children) + [id], to: level, &effects)
    }

    /// Raises an item, and its parents, to the level of a waiter (rule O9).
    package mutating func awaited(
        _ id: WorkloadItemID, at level: QoSLevel, _ effects: inout TableEffects
    ) throws(WorkloadStoreError) {
        _ = try unfinished(id)
        raise(CollectionOfOne(id), to: level, &effects)
    }

    /// Raises items with a relative priority that have been due for long to the level of their class, so that a steady
    /// stream of others does not pass them by for ever.
    ///
    /// - Complexity: O(n) for n items.
    package mutating func overdueRaised(dueBefore time: WallTime, _ effects: inout TableEffects) {
        for id in items.ids {
            let record = self[id].record
            guard self[id].place.map({ $0 != .due }) ?? false, record.due <= time else { continue }
            raise(CollectionOfOne(id), to: QoSLevel(record.level.qosClass), &effects)
        }
    }

    /// Raises items, their parents, and the holders of full keys in front of them, until nothing changes.
    mutating func raise(
        _ ids: some Collection<WorkloadItemID>, to level: QoSLevel, _ effects: inout TableEffects
    ) {
        for id in ids { raiseOne(id, to: level, &effects) }
        while let id = raised.popLast() {
            for parent in Array(self[id].parents.keys) { raiseOne(parent, to: level, &effects) }
            guard self[id].record.state == .ready, let holders = holders(blocking: id) else { continue }
            for holder in holders { raiseOne(holder, to: level, &effects) }
        }
    }

    private mutating func raiseOne(_ id: WorkloadItemID, to level: QoSLevel, _ effects: inout TableEffects) {
        let record = self[id].record
        guard record.level < level, !record.state.isEnded else { return }
        effects.raised.append(
            .init(item: id, old: record.level, new: level, isRunning: record.state == .running))
        if record.state == .running { mark += 1 }
        self[id].record.level = level
        requeue(id)
        raised.append(id)
    }

    func unfinished(_ id: WorkloadItemID) throws(WorkloadStoreError) -> WorkloadRecord {
        guard items.contains(id) else { throw .unknownItem(id) }
        let record = self[id].record
        guard !record.state.isEnded else { throw .alreadyEnded(id, record.state) }
        return record
    }
}
