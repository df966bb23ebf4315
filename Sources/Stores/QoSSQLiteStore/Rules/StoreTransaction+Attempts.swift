#if SQLite
internal import FoundationEssentials
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

extension StoreTransaction {
    /// Renews a lease.
    func renewed(_ lease: WorkloadLease) throws -> LeaseStanding {
        try rows.execute(
            "UPDATE item SET beat = beat + 1 WHERE id = ? AND state = 4 AND fence = ?",
            [lease.item.rawValue, Int64(bitPattern: lease.fence)])
        return try rows.standing(of: lease)
    }

    /// Keeps a checkpoint and a progress; `nil` leaves the old one.
    func saved(_ checkpoint: [UInt8]?, _ progress: WorkloadProgress?, under lease: WorkloadLease) throws {
        guard try rows.isHeld(lease) else { throw WorkloadStoreError.leaseLost(lease) }
        let id = lease.item.rawValue
        if let checkpoint {
            try rows.execute(
                "INSERT INTO checkpoint (item, bytes) VALUES (?1, ?2) ON CONFLICT (item) DO UPDATE SET bytes = ?2 "
                    + "WHERE bytes <> ?2", [id, Data(checkpoint)])
            // A new checkpoint; see `WorkloadLife.progressed`.
            if rows.database.changesCount > 0 {
                try rows.execute(
                    "UPDATE item SET flags = flags | 24, crashes = 0, deferrals = 0 "
                        + "WHERE id = ? AND (flags & 24 <> 24 OR crashes <> 0 OR deferrals <> 0)", [id])
            }
        }
        if let progress {
            try rows.execute("UPDATE item SET progress = ? WHERE id = ?", [try StoreCodes.encode(progress), id])
        }
    }

    /// Keeps a remark about an attempt.
    func noted(_ remark: String, under lease: WorkloadLease) throws {
        guard var item = try find(lease.item), item.record.life.noted(remark, under: lease.fence) else {
            throw WorkloadStoreError.leaseLost(lease)
        }
        try item.update(rows)
    }

    /// Ends an attempt.
    ///
    /// - Returns: the state of the item; `nil` if the lease is not valid.
    func attemptEnded(_ end: AttemptEnd, at now: WallTime) throws -> WorkloadState? {
        let lease = end.lease
        guard var item = try find(lease.item), item.record.life.isHeld(under: lease.fence) else { return nil }
        let changes = rows.database.totalChangesCount
        try clockRead(now)
        // A due item may have raised the holders of its key.
        if rows.database.totalChangesCount != changes { item = try self.item(lease.item.rawValue) }
        if let progress = end.progress { item.record.progress = progress }
        let request = item.record.request
        try keep(item.record.life.history(of: end.result, at: now), of: item.id)
        guard
            let ending = item.record.life.attemptEnded(
                under: lease.fence, end.result, retry: request.retry, repeats: request.schedule.repeats,
                seed: UInt64(bitPattern: item.id), at: now)
        else { return nil }
        try settle(&item, after: ending, at: now)
        guard item.record.state == .ready else { return item.record.state }
        return try rows.deferral(of: item) == nil ? .ready : .deferred
    }

    /// Ends the attempt of a host that has lost its lease, unless it was renewed since the sighting.
    func leaseLost(_ sighting: LeaseSighting, because loss: LeaseLoss, at now: WallTime) throws -> Bool {
        let lease = sighting.lease
        let isValid = try rows.has(
            "SELECT 1 FROM item WHERE id = ? AND state = 4 AND fence = ? AND beat = ?",
            [lease.item.rawValue, Int64(bitPattern: lease.fence), Int64(bitPattern: sighting.beat)])
        guard isValid else { return false }
        termsChanged()
        try clockRead(now)
        var item = try item(lease.item.rawValue)
        let request = item.record.request
        try keep(item.record.life.history(of: loss, at: now), of: item.id)
        guard
            let ending = item.record.life.leaseLost(
                under: lease.fence, beat: sighting.beat, because: loss, retry: request.retry,
                repeats: request.schedule.repeats, seed: UInt64(bitPattern: item.id), at: now)
        else { return false }
        try settle(&item, after: ending, at: now)
        return true
    }

    /// Keeps a failed attempt, and the last ones before it.
    private func keep(_ entry: WorkloadAttempt?, of id: Int64) throws {
        guard let entry else { return }
        try rows.execute(
            "INSERT INTO attempt (item, fence, number, host, began, ended, error) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                id, Int64(bitPattern: entry.fence), entry.number, entry.host, entry.began.nanosecondsSince1970,
                entry.ended.nanosecondsSince1970, entry.error,
            ])
        try rows.execute(
            "DELETE FROM attempt WHERE item = ?1 AND fence <= "
                + "(SELECT fence FROM attempt WHERE item = ?1 ORDER BY fence DESC LIMIT 1 OFFSET ?2)",
            [id, WorkloadAttempt.kept])
    }

    /// Gives an item the place that follows from the end of its attempt.
    private func settle(_ item: inout StoredItem, after ending: WorkloadLife.Ending, at now: WallTime) throws {
        concernsHosts = true
        if item.key != nil {
            // The key's place is free once the row says so.
            try item.update(rows)
            try refill(item.key)
        }
        switch ending {
        case .waits(let delay):
            if let delay { item.record.delayed(by: delay, at: now) }
            try settle(&item, because: item.record.life.reason, at: now)
        case .runFinished(let repeats):
            if item.hasCheckpoint { try rows.execute("DELETE FROM checkpoint WHERE item = ?", [item.id]) }
            item.hasCheckpoint = false
            try runEnded(&item, failed: false, repeats: repeats, at: now)
        case .runFailed(let repeats): try runEnded(&item, failed: true, repeats: repeats, at: now)
        case .cancelled: try end(item, at: now)
        }
    }

    private func runEnded(_ item: inout StoredItem, failed: Bool, repeats: Bool, at now: WallTime) throws {
        let ignoredConditions = item.record.ignoresConditions
        item.record.runEnded()
        if ignoredConditions {
            item.lane = try lane(of: item.record).id
        }
        guard repeats else {
            try end(item, at: now)
            return
        }
        try item.update(rows)
        var open: [StoredItem] = []
        // A repeating item gets new children, so all of these are released now.
        while try releaseChildren(of: item, failed: failed, atMost: .max, at: now, &open) {}
        for child in open.reversed() { try end(child, at: now) }
        // A child of higher level does not hold the next run up there.
        item.record.planNextRun(at: now)
        try settle(&item, because: failed ? item.record.life.reason : nil, at: now)
    }

    // MARK: The end of items

    /// Ends an item whose life has ended, and cancels the children whose policies say so, and theirs.
    func end(_ ended: StoredItem, at now: WallTime) throws {
        var open = [ended]
        concernsHosts = true
        while var item = open.popLast() {
            item.place = .none
            try item.update(rows)
            if let key = item.record.request.unique?.key { try passUniqueKey(key, of: item.id) }
            try refill(item.key)
            if item.mayHaveParents { try rows.execute("DELETE FROM dependency WHERE child = ?", [item.id]) }
            guard item.mayHaveChildren else { continue }
            let limit = max(budget, 1)
            if try releaseChildren(of: item, failed: item.record.state != .finished, atMost: limit, at: now, &open) {
                mayHaveReleases = true
                try rows.execute("INSERT OR IGNORE INTO release (parent) VALUES (?)", [item.id])
            }
        }
    }

    /// Goes on with the children of items that ended in earlier transactions.
    func continueReleases(at now: WallTime) throws {
        guard mayHaveReleases else { return }
        while budget > 0, let parent = try rows.integer("SELECT parent FROM release ORDER BY parent LIMIT 1") {
            let item = try item(parent)
            guard item.record.state.isEnded else {
                if try !reviveChildren(of: item, atMost: budget, at: now) {
                    try rows.execute("DELETE FROM release WHERE parent = ?", [parent])
                }
                continue
            }
            var open: [StoredItem] = []
            let hasMore = try releaseChildren(
                of: item, failed: item.record.state != .finished, atMost: budget, at: now, &open)
            for child in open.reversed() { try end(child, at: now) }
            if !hasMore { try rows.execute("DELETE FROM release WHERE parent = ?", [parent]) }
        }
    }

    /// Takes a dependency away from children of an item.
    ///
    /// - Parameter open: gets the children that are cancelled because of it. Their ends must follow.
    /// - Returns: whether there are more.
    private func releaseChildren(
        of parent: StoredItem, failed: Bool, atMost limit: Int, at now: WallTime, _ open: inout [StoredItem]
    ) throws -> Bool {
        let limit = min(limit, 1000)
        let cursor = try rows.rows(
            "SELECT child, cancels FROM dependency INDEXED BY dependency_parent WHERE parent = ? ORDER BY child LIMIT ?",
            [parent.id, limit])
        var children: [(id: Int64, cancels: Bool)] = []
        while let row = try cursor.next() { children.append((try row[0], try row[1])) }
        for (child, cancels) in children {
            try rows.execute("DELETE FROM dependency WHERE child = ? AND parent = ?", [child, parent.id])
            budget -= 1
            if failed, cancels, parent.record.state.isEnded { try orphan(child, of: parent.id) }
            let hasParents = try rows.has("SELECT 1 FROM dependency WHERE child = ?", [child])
            guard failed && cancels || !hasParents else { continue }
            var item = try item(child)
            if failed, cancels {
                let reason = parent.record.failureReason
                if item.record.life.cancelled(because: reason, at: now) == .ended { open.append(item) }
            } else if item.place == .none, item.record.state.isWaiting {
                try settle(&item, at: now)
            }
        }
        return children.count == limit
    }

    /// Gives the unique key of an ended item to the one with this key that it has waited for. Those that wait for the
    /// ended one wait for that one from now on. So two items with the key never run beside one another.
    private func passUniqueKey(_ key: String, of id: Int64) throws {
        let before = try rows.parents(of: id).filter { try find($0)?.record.request.unique?.key == key }
        if let last = before.last {
            let children = try rows.integers(
                "SELECT child FROM dependency INDEXED BY dependency_parent WHERE parent = ? ORDER BY child", [id])
            for child in children where try find(child)?.record.request.unique?.key == key {
                for parent in before { try link(child, to: parent, cancels: false) }
            }
            try rows.execute("UPDATE unique_key SET item = ? WHERE key = ? AND item = ?", [last, key, id])
        } else {
            try rows.execute("DELETE FROM unique_key WHERE key = ? AND item = ?", [key, id])
        }
    }

    private func find(_ id: Int64) throws -> StoredItem? { try find(WorkloadItemID(rawValue: id)) }

    // MARK: Orphans

    /// Notes all parents of an item that is about to be cancelled because of one of them.
    func orphan(_ child: Int64, of parent: Int64) throws {
        try rows.execute(
            "INSERT OR IGNORE INTO orphan (parent, child) "
                + "SELECT ?2, ?1 UNION SELECT parent, child FROM dependency WHERE child = ?1", [child, parent])
    }

    /// Lets the items that were cancelled because of a revived one be revived, now and in later transactions.
    func beginRevival(of id: Int64, at now: WallTime) throws {
        // Children that were not released yet wait for it as before.
        try rows.execute("DELETE FROM release WHERE parent = ?", [id])
        guard try rows.has("SELECT 1 FROM orphan WHERE parent = ?", [id]) else { return }
        try rows.execute("INSERT INTO release (parent) VALUES (?)", [id])
        mayHaveReleases = true
        concernsHosts = true
    }

    /// Revives items that were cancelled because of a revived one: each one that no other lost parent holds back, and
    /// whose unique key is free.
    ///
    /// - Returns: whether there are more.
    private func reviveChildren(of parent: StoredItem, atMost limit: Int, at now: WallTime) throws -> Bool {
        let limit = min(limit, 1000)
        let children = try rows.integers(
            "SELECT child FROM orphan WHERE parent = ?1 AND child > (SELECT behind FROM release WHERE parent = ?1) "
                + "ORDER BY child LIMIT ?2", [parent.id, limit])
        for id in children {
            budget -= 1
            guard var child = try find(id), child.record.state == .cancelled else { continue }
            let isHeldBack = try rows.has(
                "SELECT 1 FROM orphan JOIN item ON item.id = orphan.parent WHERE orphan.child = ? AND item.state IN (6, 7)",
                [id])
            let key = child.record.request.unique?.key
            let isKeyTaken = try key.map { try rows.has("SELECT 1 FROM unique_key WHERE key = ?", [$0]) } ?? false
            guard !isHeldBack, !isKeyTaken, child.record.life.revivedWithParent(at: now) else { continue }
            let parents = try rows.integers("SELECT parent FROM orphan WHERE child = ? ORDER BY parent", [id])
            try rows.execute("DELETE FROM orphan WHERE child = ?", [id])
            if let key { try rows.execute("INSERT INTO unique_key (key, item) VALUES (?, ?)", [key, id]) }
            for parent in parents { try link(id, to: parent, cancels: true) }
            try settle(&child, at: now)
            try raise(rows.parents(of: id), to: child.record.level)
            try beginRevival(of: id, at: now)
        }
        if let last = children.last {
            try rows.execute("UPDATE release SET behind = ? WHERE parent = ?", [last, parent.id])
        }
        return children.count == limit
    }
}
#endif
