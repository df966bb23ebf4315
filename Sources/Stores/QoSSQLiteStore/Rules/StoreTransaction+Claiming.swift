#if SQLite
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

extension StoreTransaction {
    /// An item that waits at the front of a lane.
    private struct Front {
        let id: Int64
        let level: Int64
        let due: Int64
        let lane: StoreCache.Lane
        let turn: Int64
    }

    /// Gives a host its next item, with a new lease.
    ///
    /// The highest effective level wins. At that level the workloads take turns. Inside of a workload the earliest due
    /// time wins, then the lowest number.
    ///
    /// - Complexity: a few looks into indexes for each lane of the host's workloads.
    func claimed(_ request: ClaimRequest, at now: WallTime) throws -> WorkloadClaim? {
        try clockRead(now)
        let lanes = cache.lanes.filter { request.covers($0.name, version: $0.version) }
        let closed = try judgeGates(lanes, request, at: now)
        let paused = try pausedWorkloads()
        var best: Front?
        for lane in lanes where !closed.contains(lane.gate) && !paused.contains(lane.workload) {
            guard let front = try front(of: lane, request.classes) else { continue }
            if let best {
                let isBetter =
                    (best.level, front.turn, front.due, front.id) < (front.level, best.turn, best.due, best.id)
                guard isBetter else { continue }
            }
            best = front
        }
        guard let best else { return nil }
        try setTurn(best.turn, of: best.lane.workload, in: best.level / 16)
        return try claim(best.id, request, at: now)
    }

    private func claim(_ id: Int64, _ request: ClaimRequest, at now: WallTime) throws -> WorkloadClaim? {
        guard var item = try find(WorkloadItemID(rawValue: id), isWhole: true),
            let fence = item.record.life.claimed(by: request.host, in: request.process, at: now)
        else { throw StoreCodes.damage("item \(id) in a lane is not ready") }
        item.place = .none
        item.record.attemptBegan(at: now)
        try item.update(rows)
        if let key = item.key {
            try noteUse(of: key, at: now)
            try fillPlace(of: item.key, in: item.lane, levels: StoreCodes.levels(of: item.record.level.qosClass))
        }
        return WorkloadClaim(lease: WorkloadLease(item: item.record.id, fence: fence), record: item.record)
    }

    /// Notes that an item of a key runs from now on.
    func noteUse(of key: ConcurrencyKey, at now: WallTime) throws {
        try rows.execute(
            "INSERT INTO key_use (key, since) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET since = ?2",
            [key.key, now.nanosecondsSince1970])
    }

    /// Returns the first item of a lane in the highest of some classes, with the turn of its flow. On the way it parks
    /// items whose keys are full.
    ///
    /// A flow that was idle has no claim to the turns that it did not take: its turn is at least that of the last claim.
    private func front(of lane: StoreCache.Lane, _ classes: Set<QoSClass>) throws -> Front? {
        for levels in Self.levels(of: classes) {
            while true {
                let found = try rows.row(
                    "SELECT id, level, due, key, key_limit, (SELECT coalesce(max(turns), 0) FROM flow "
                        + "WHERE class = item.level / 16 AND workload IN (0, item.workload)) "
                        + "FROM item INDEXED BY item_ready WHERE place = 1 AND lane = ? "
                        + "AND level BETWEEN ? AND ? ORDER BY level DESC, due, id LIMIT 1",
                    [lane.id, levels.lowerBound, levels.upperBound])
                guard let row = found else { break }
                let (id, level, due) = (row[0] as Int64, row[1] as Int64, row[2] as Int64)
                if let key = row[3] as String?, try holders(of: ConcurrencyKey(key, limit: row[4])) != nil {
                    try rows.execute("UPDATE item SET place = 2 WHERE id = ?", [id])
                    continue
                }
                return Front(id: id, level: level, due: due, lane: lane, turn: row[5])
            }
        }
        return nil
    }

    /// The codes of the levels of some classes, the highest first. Classes that are neighbors share a range, so that all
    /// classes need one look into the index.
    private static func levels(of classes: Set<QoSClass>) -> [ClosedRange<Int64>] {
        var ranges: [ClosedRange<Int64>] = []
        for qosClass in QoSClass.descending where classes.contains(qosClass) {
            let levels = StoreCodes.levels(of: qosClass)
            if let last = ranges.last, levels.upperBound + 1 == last.lowerBound {
                ranges[ranges.count - 1] = levels.lowerBound...last.upperBound
            } else {
                ranges.append(levels)
            }
        }
        return ranges
    }

    /// Notes the turn of a claim, and the next one of its workload.
    private func setTurn(_ turn: Int64, of workload: Int64, in qosClass: Int64) throws {
        try rows.execute(
            "INSERT INTO flow (class, workload, turns) VALUES (?1, ?2, ?3 + 1), (?1, 0, ?3) "
                + "ON CONFLICT (class, workload) DO UPDATE SET turns = excluded.turns WHERE turns <> excluded.turns",
            [qosClass, workload, turn])
    }

    private func pausedWorkloads() throws -> Set<Int64> {
        hasPauses ? Set(try rows.integers("SELECT id FROM workload WHERE paused IS NOT NULL")) : []
    }

    /// Asks the host about the conditions of items that it could run.
    ///
    /// - Returns: the closed gates.
    private func judgeGates(
        _ lanes: [StoreCache.Lane], _ request: ClaimRequest, at now: WallTime
    ) throws -> Set<Int64> {
        guard lanes.contains(where: { $0.gate != 0 }) else { return [] }
        var closed: [Int64: (reason: String, since: Int64)] = [:]
        let cursor = try rows.rows("SELECT id, closed, closed_since FROM gate WHERE closed IS NOT NULL")
        while let row = try cursor.next() { closed[row[0]] = (row[1], row[2]) }
        for gate in Set(lanes.map(\.gate)).sorted() where gate != 0 {
            let isNeeded = try lanes.contains { lane in
                try lane.gate == gate
                    && rows.has("SELECT 1 FROM item INDEXED BY item_ready WHERE place = 1 AND lane = ?", [lane.id])
            }
            guard isNeeded else { continue }
            let reasons = (cache.gates[gate] ?? []).compactMap { condition -> String? in
                if case .unmet(let reason) = request.verdict(condition) { reason } else { nil }
            }
            let reason = reasons.isEmpty ? nil : reasons.sorted().joined(separator: "; ")
            guard reason != closed[gate]?.reason else { continue }
            let since = reason == nil ? nil : closed[gate]?.since ?? now.nanosecondsSince1970
            try rows.execute("UPDATE gate SET closed = ?, closed_since = ? WHERE id = ?", [reason, since, gate])
            closed[gate] = reason.flatMap { reason in since.map { (reason, $0) } }
        }
        return Set(closed.keys)
    }
}
#endif
