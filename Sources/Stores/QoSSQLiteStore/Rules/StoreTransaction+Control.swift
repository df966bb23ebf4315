#if SQLite
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

extension StoreTransaction {
    /// Cancels an item: a waiting one at once, a running one when its attempt ends. A repeating item has no further
    /// runs.
    func cancelled(_ id: WorkloadItemID, because reason: String, at now: WallTime) throws {
        try clockRead(now)
        var item = try unfinished(id)
        switch item.record.life.cancelled(because: reason, at: now) {
        case .ended: try end(item, at: now)
        case .requested:
            try item.update(rows)
            termsChanged()
        case .tooLate: break
        }
    }

    /// Pauses a workload, or resumes it with `nil`. Running items are asked to defer.
    func paused(_ name: WorkloadName, because reason: String?, at now: WallTime) throws {
        let workload = try workload(name)
        if reason != nil { hasPauses = true }
        try rows.execute(
            "UPDATE workload SET paused = ?1, paused_since = CASE WHEN ?1 IS NULL THEN NULL ELSE coalesce(paused_since, ?2) END "
                + "WHERE id = ?3", [reason, now.nanosecondsSince1970, workload])
        termsChanged()
    }

    /// Makes an item due now, whatever its schedule and its conditions say. A dead item gets its attempts back, and the
    /// items that were cancelled because of it wait for it again.
    ///
    /// Dependencies, limits and pauses stay.
    func runRequested(_ id: WorkloadItemID, at now: WallTime) throws {
        try clockRead(now)
        guard var item = try find(id) else { throw WorkloadStoreError.unknownItem(id) }
        let state = item.record.state
        if state == .dead, let key = item.record.request.unique?.key {
            if let holder = try rows.integer("SELECT item FROM unique_key WHERE key = ?", [key]) {
                throw WorkloadStoreError.keyTaken(key, by: WorkloadItemID(rawValue: holder))
            }
            try rows.execute("INSERT INTO unique_key (key, item) VALUES (?, ?)", [key, item.id])
        }
        let isRevived = item.record.life.revived(at: now)
        guard isRevived || !state.isEnded else { throw WorkloadStoreError.alreadyEnded(id, state) }
        guard item.record.state.isWaiting else { return }
        let oldLane = item.lane
        item.record.runRequested(at: now)
        item.lane = try lane(of: item.record).id
        try settle(&item, at: now)
        try fillPlace(of: item.key, in: oldLane)
        if isRevived {
            try beginRevival(of: item.id, at: now)
            try continueReleases(at: now)
        }
    }

    /// Notes a file event for an item that waits for one.
    func fileChanged(for id: WorkloadItemID, at now: WallTime) throws {
        try clockRead(now)
        var item = try unfinished(id)
        let old = item.record
        if item.record.fileChanged(at: now) {
            try settle(&item, at: now)
        } else if item.record != old {
            // A running item notes the first event. Without a write, the commit of the others need not wait for the disk.
            try item.update(rows)
        }
    }

    /// Removes items that ended before a time, as many as one transaction may.
    ///
    /// - Returns: their number, and whether there are more.
    func endedRemoved(
        before time: WallTime, in states: Set<WorkloadState>
    ) throws -> (count: Int, hasMore: Bool) {
        let codes = states.filter(\.isEnded).map { String(StoreCodes.code(of: $0)) }.sorted().joined(separator: ", ")
        let old = try rows.integers(
            "SELECT id FROM item INDEXED BY item_ended WHERE state >= 5 AND since < ? AND state IN (\(codes)) "
                + "AND id NOT IN (SELECT parent FROM release) LIMIT ?", [time.nanosecondsSince1970, stepLimit])
        for id in old {
            for table in ["checkpoint", "request", "attempt"] {
                try rows.execute("DELETE FROM \(table) WHERE item = ?", [id])
            }
            for column in ["parent", "child"] { try rows.execute("DELETE FROM orphan WHERE \(column) = ?", [id]) }
            try rows.execute("DELETE FROM item WHERE id = ?", [id])
        }
        return (old.count, old.count == stepLimit)
    }
}
#endif
