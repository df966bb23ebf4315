#if SQLite
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

extension StoreTransaction {
    /// Gives a waiting item the place that fits, writes the item, and raises what stands in its way.
    func settle(_ item: inout StoredItem, because reason: String? = nil, at now: WallTime, isNew: Bool = false) throws {
        let isFull = try place(&item, because: reason, at: now, isNew: isNew)
        if isNew { try item.insert(rows) } else { try item.update(rows) }
        if isFull, let key = item.key { try raise(holders(of: key) ?? [], to: item.record.level) }
    }

    /// - Returns: whether the item's key is full.
    private func place(
        _ item: inout StoredItem, because reason: String?, at now: WallTime, isNew: Bool
    ) throws -> Bool {
        item.place = .none
        guard item.record.state.isWaiting else { return false }
        let isDue = item.record.due <= now
        // A new item has no rows, and so no parents.
        let hasParents = isDue && !isNew ? try rows.has("SELECT 1 FROM dependency WHERE child = ?", [item.id]) : false
        item.record.settle(because: reason, hasParents: hasParents, at: now)
        guard isDue else {
            item.place = .due
            mayHaveDue = true
            // A host has to wake for it, or to watch its files.
            concernsHosts = true
            return false
        }
        guard !hasParents else { return false }
        let isFull = try item.key.map { try holders(of: $0) != nil } ?? false
        item.place = isFull ? .parked : .lane
        concernsHosts = true
        return isFull
    }

    /// The running items that take all places of a key, by an item's own limit; `nil` if a place is free.
    func holders(of key: ConcurrencyKey) throws -> [Int64]? {
        let running = try rows.integers(
            "SELECT id FROM item INDEXED BY item_running WHERE state = 4 AND key = ?", [key.key])
        return running.count >= key.limit ? running : nil
    }

    // The parked items of a key with the same lane, class and limit are a line. They differ in nothing but their order.
    // While there is a place for a line, its first item is in the lane.

    /// Moves the first parked item of each line into its lane if the key has a free place for it.
    func refill(_ key: ConcurrencyKey?) throws {
        guard let key else { return }
        let running = try runningCount(of: key)
        var lane: Int64 = -1
        while let next = try rows.integer(
            "SELECT lane FROM item INDEXED BY item_parked WHERE place = 2 AND key = ? AND lane > ? "
                + "ORDER BY lane LIMIT 1", [key.key, lane])
        {
            lane = next
            var limit = running
            while let wider = try rows.integer(
                "SELECT key_limit FROM item INDEXED BY item_parked WHERE place = 2 AND key = ? AND lane = ? "
                    + "AND key_limit > ? ORDER BY key_limit LIMIT 1", [key.key, lane, limit])
            {
                limit = wider
                if try fill(key.key, lane, limit) { concernsHosts = true }
            }
        }
        if running == 0 { try rows.execute("DELETE FROM key_use WHERE key = ?", [key.key]) }
    }

    /// Lets the next items of a line take the place of one that has left the lane, if the key has a free place for them.
    ///
    /// - Parameters:
    ///   - lane: the lane that the item has left.
    ///   - levels: the levels of the lines; `nil` for those of all classes.
    func fillPlace(of key: ConcurrencyKey?, in lane: Int64, levels: ClosedRange<Int64>? = nil) throws {
        guard let key, try runningCount(of: key) < Int64(key.limit) else { return }
        _ = try fill(key.key, lane, Int64(key.limit), levels: levels)
    }

    /// Moves the first parked item of each class into its lane.
    ///
    /// - Returns: whether it moved one.
    private func fill(_ key: String, _ lane: Int64, _ limit: Int64, levels: ClosedRange<Int64>? = nil) throws -> Bool {
        var hasMoved = false
        var level = levels?.upperBound ?? .max
        while let row = try rows.row(
            "SELECT id, level FROM item INDEXED BY item_parked WHERE place = 2 AND key = ? AND lane = ? "
                + "AND key_limit = ? AND level BETWEEN ? AND ? ORDER BY level DESC, due, id LIMIT 1",
            [key, lane, limit, levels?.lowerBound ?? 0, level])
        {
            try rows.execute("UPDATE item SET place = 1 WHERE id = ?", [try row[0] as Int64])
            hasMoved = true
            // The next class.
            level = (try row[1] as Int64) / 16 * 16 - 1
        }
        return hasMoved
    }

    private func runningCount(of key: ConcurrencyKey) throws -> Int64 {
        try rows.integer("SELECT count(*) FROM item INDEXED BY item_running WHERE state = 4 AND key = ?", [key.key])
            ?? 0
    }

    // MARK: Time

    /// Notes the time of an event. If the clock was set back, delays begin anew, and runs are planned anew.
    func clockRead(_ now: WallTime) throws {
        try continueReleases(at: now)
        try replan(at: now)
        guard let latest, now < latest else {
            latest = now
            try settleDue(at: now)
            return
        }
        // Two hosts read the clock at slightly different moments.
        guard now.duration(to: latest) > .seconds(1) else { return }
        self.latest = now
        // A second time, the first items are planned again, too.
        replanned = Replanned(level: -1, due: .min, item: 0)
        try replan(at: now)
    }

    /// Plans the next items again after the clock was set back, as many as the transaction may.
    ///
    /// An item is due earlier afterwards, so it moves to a place that was passed.
    private func replan(at now: WallTime) throws {
        while budget > 0, let last = replanned {
            let limit = min(budget, 100)
            let cursor = try rows.rows(
                "SELECT level, due, id FROM item INDEXED BY item_due WHERE place = 3 AND (level, due, id) > (?, ?, ?) "
                    + "ORDER BY level, due, id LIMIT ?", [last.level, last.due, last.item, limit])
            var next: [Replanned] = []
            while let row = try cursor.next() {
                next.append(Replanned(level: try row[0], due: try row[1], item: try row[2]))
            }
            for place in next {
                var item = try item(place.item)
                if item.record.clockSetBack(to: now) { try settle(&item, at: now) }
            }
            budget -= next.count
            replanned = next.count == limit ? next.last : nil
        }
    }

    /// The time at which a host should ask again; `nil` if no item waits for its time. Now, if a step was left to do.
    func nextDue() throws -> WallTime? {
        let hasReleases = mayHaveReleases ? try rows.has("SELECT 1 FROM release") : false
        if replanned != nil || hasReleases { return latest }
        return mayHaveDue ? try rows.firstDue() : nil
    }

    /// The levels of the items that wait for their time, the highest first.
    ///
    /// - Complexity: one look into the index for each level.
    private func dueLevels() throws -> [Int64] {
        var levels: [Int64] = []
        var next = try rows.integer(
            "SELECT level FROM item INDEXED BY item_due WHERE place = 3 ORDER BY level DESC LIMIT 1")
        while let level = next {
            levels.append(level)
            next = try rows.integer(
                "SELECT level FROM item INDEXED BY item_due WHERE place = 3 AND level < ? ORDER BY level DESC LIMIT 1",
                [level])
        }
        return levels
    }

    /// Moves the items whose time has come: the highest levels first, as many as the transaction may.
    private func settleDue(at now: WallTime) throws {
        guard mayHaveDue else { return }
        for level in try dueLevels() {
            while budget > 0 {
                let due = try rows.integers(
                    "SELECT id FROM item INDEXED BY item_due WHERE place = 3 AND level = ? AND due <= ? "
                        + "ORDER BY due, id LIMIT ?", [level, now.nanosecondsSince1970, min(budget, 100)])
                guard !due.isEmpty else { break }
                for id in due {
                    var item = try item(id)
                    item.record.skipMissedRun(at: now)
                    try settle(&item, at: now)
                }
                budget -= due.count
            }
        }
    }
}

extension StoreRows {
    /// The time at which the next item is due; `nil` if no item waits for its time. Now, if a step was left to do.
    func nextDue() throws -> WallTime? {
        let hasSteps = "EXISTS (SELECT 1 FROM release) OR EXISTS (SELECT 1 FROM flow WHERE class = -1)"
        if let latest = try integer("SELECT latest FROM store WHERE \(hasSteps)") {
            return WallTime(nanosecondsSince1970: latest)
        }
        return try firstDue()
    }

    /// The time at which the first item is due; `nil` if no item waits for its time.
    func firstDue() throws -> WallTime? {
        var first: Int64?
        var level: Int64 = .max
        while let next = try integer(
            "SELECT level FROM item INDEXED BY item_due WHERE place = 3 AND level < ? ORDER BY level DESC LIMIT 1",
            [level])
        {
            level = next
            first = try min(
                first ?? .max,
                integer(
                    "SELECT due FROM item INDEXED BY item_due WHERE place = 3 AND level = ? ORDER BY due LIMIT 1",
                    [level])
                    ?? .max)
        }
        return first.flatMap { $0 == .max ? nil : WallTime(nanosecondsSince1970: $0) }
    }
}
#endif
