internal import QoSCore

extension WorkloadTable {
    /// Cancels an item: a waiting one at once, a running one when its attempt ends. A repeating item has no further
    /// runs.
    package mutating func cancelled(
        _ id: WorkloadItemID, because reason: String, at now: WallTime, _ effects: inout TableEffects
    ) throws(WorkloadStoreError) {
        clockRead(now, &effects)
        _ = try unfinished(id)
        switch self[id].record.life.cancelled(because: reason, at: now) {
        case .ended: end([id], at: now, &effects)
        case .requested:
            mark += 1
            effects.cancelled.append(id)
        case .tooLate: break
        }
    }

    /// Pauses a workload, or resumes it with `nil`. Running items are asked to defer.
    package mutating func paused(
        _ name: WorkloadName, because reason: String?, at now: WallTime, _ effects: inout TableEffects
    ) {
        mark += 1
        if let reason {
            paused[name] = (reason, paused[name]?.since ?? now)
            effects.cancelled += running.filter { self[$0].record.request.name == name }.sorted()
        } else if paused.removeValue(forKey: name) != nil {
            effects.hasReady = true
        }
    }

    /// The paused workloads with their reasons.
    package var pauses: [WorkloadName: String] { paused.mapValues(\.reason) }

    /// Makes an item due now, whatever its schedule and its conditions say. A dead item gets its attempts back, and the
    /// items that were cancelled because of it wait for it again.
    ///
    /// Dependencies, limits and pauses stay.
    package mutating func runRequested(
        _ id: WorkloadItemID, at now: WallTime, _ effects: inout TableEffects
    ) throws(WorkloadStoreError) {
        clockRead(now, &effects)
        guard items.contains(id) else { throw .unknownItem(id) }
        let record = self[id].record
        if record.state == .dead, let key = record.request.unique?.key {
            if let holder = unique[key] { throw .keyTaken(key, by: holder) }
            unique[key] = id
        }
        let isRevived = self[id].record.life.revived(at: now)
        guard isRevived || !record.state.isEnded else { throw .alreadyEnded(id, record.state) }
        guard self[id].record.state.isWaiting else { return }
        unqueue(id)
        self[id].record.runRequested(at: now)
        settle(id, at: now, &effects)
        if isRevived { reviveChildren(of: id, at: now, &effects) }
    }

    /// Notes a file event for an item that waits for one.
    package mutating func fileChanged(
        for id: WorkloadItemID, at now: WallTime, _ effects: inout TableEffects
    ) throws(WorkloadStoreError) {
        clockRead(now, &effects)
        _ = try unfinished(id)
        if self[id].record.fileChanged(at: now) { settle(id, at: now, &effects) }
    }

    /// Removes the items that ended in some states before a time.
    ///
    /// - Returns: their number.
    package mutating func endedRemoved(before time: WallTime, in states: Set<WorkloadState>) -> Int {
        let old = items.ids.filter {
            let record = self[$0].record
            return record.state.isEnded && states.contains(record.state) && record.life.since < time
        }
        for id in old {
            forgetParents(of: id)
            for child in self[id].lostChildren { self[child].lostParents.remove(id) }
            items.remove(id)
            onFileEvents.remove(id)
        }
        return old.count
    }
}
