#if SQLite
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

extension StoreTransaction {
    /// Raises an item to a level (rule O6), its children, and the parents of all of these (rule O5).
    func raised(_ id: WorkloadItemID, to level: QoSLevel) throws {
        guard try unfinished(id).record.level < level else { return }
        let children = try rows.integers(
            "SELECT child FROM dependency INDEXED BY dependency_parent WHERE parent = ?", [id.rawValue])
        try raise(children + [id.rawValue], to: level)
    }

    /// Raises an item, and its parents, to the level of a waiter (rule O9).
    func awaited(_ id: WorkloadItemID, at level: QoSLevel) throws {
        guard try unfinished(id).record.level < level else { return }
        try raise([id.rawValue], to: level)
    }

    /// Raises items with a relative priority that have been due for long to the level of their class, as many as one
    /// transaction may.
    func overdueRaised(dueBefore time: WallTime) throws {
        var overdue: [Int64: Int64] = [:]
        for lane in cache.lanes {
            for level in try rows.levels(ofLane: lane.id) where level % 16 != 15 {
                let ids = try rows.integers(
                    "SELECT id FROM item INDEXED BY item_ready WHERE place = 1 AND lane = ? AND level = ? AND due <= ? "
                        + "ORDER BY due LIMIT ?",
                    [lane.id, level, time.nanosecondsSince1970, stepLimit - overdue.count])
                for id in ids { overdue[id] = level }
            }
        }
        let cursor = try rows.rows(
            "SELECT id, level FROM item INDEXED BY item_parked WHERE place = 2 AND level % 16 <> 15 AND due <= ? LIMIT ?",
            [time.nanosecondsSince1970, stepLimit - overdue.count])
        while let row = try cursor.next() { overdue[try row[0] as Int64] = try row[1] as Int64 }
        for (id, level) in overdue.sorted(by: { $0.key < $1.key }) {
            try raise([id], to: StoreCodes.level(level / 16 * 16 + 15))
        }
    }

    /// Raises items, their parents, and the holders of full keys in front of them, until nothing changes.
    ///
    /// One statement raises a whole tree of dependencies. An item that rises passes it on to its parents.
    func raise(_ ids: [Int64], to level: QoSLevel) throws {
        var ids = ids
        let code = StoreCodes.code(of: level)
        while !ids.isEmpty {
            // The database reads a list as JSON.
            let list = "[" + ids.map(String.init).joined(separator: ",") + "]"
            let cursor = try rows.rows(
                """
                UPDATE item SET level = ?1 WHERE level < ?1 AND state < 5 AND id IN (
                    WITH RECURSIVE reach (id) AS (
                        SELECT value FROM json_each(?2)
                        UNION
                        SELECT dependency.parent FROM reach
                        CROSS JOIN item AS one ON one.id = reach.id AND one.level < ?1
                        CROSS JOIN dependency ON dependency.child = reach.id)
                    SELECT id FROM reach)
                RETURNING id, state, place, key, key_limit, lane
                """, [code, list])
            var keyed: [(id: Int64, place: Int64, key: ConcurrencyKey, lane: Int64)] = []
            while let row = try cursor.next() {
                let state: Int64 = try row[1]
                if state == 4 { termsChanged() }
                if state == 3, let key = try row[3] as String? {
                    keyed.append((try row[0], try row[2], ConcurrencyKey(key, limit: try row[4]), try row[5]))
                }
            }
            ids = []
            for item in keyed {
                let holders = try holders(of: item.key)
                if holders == nil, item.place == StoredItem.Place.lane.rawValue {
                    // It has left its class, and the next one there takes its place.
                    try fillPlace(of: item.key, in: item.lane)
                }
                let place = holders == nil ? StoredItem.Place.lane : .parked
                if place.rawValue != item.place {
                    try rows.execute("UPDATE item SET place = ? WHERE id = ?", [place.rawValue, item.id])
                }
                ids += holders ?? []
            }
        }
    }
}
#endif
