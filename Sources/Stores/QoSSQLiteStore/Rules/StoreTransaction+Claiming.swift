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
        let key: ConcurrencyKey?
    }

    /// The first items of a lane, as far as they were read.
    private struct Window {
        let lane: StoreCache.Lane
        /// Behind the first one that is left, in order.
        var fronts: ArraySlice<Front> = []
        /// Whether the lane may have more of them.
        var hasMore = true
    }

    /// The turns of the flows that a claim looks at. They are written once for all of its items.
    private struct Turns {
        struct Flow: Hashable {
            let qosClass: Int64
            /// 0 for the turn of the last claim of the class.
            let workload: Int64
        }

        var known: [Flow: Int64] = [:]
        var changed: Set<Flow> = []

        mutating func set(_ turn: Int64, of flow: Flow) {
            if known.updateValue(turn, forKey: flow) != turn { changed.insert(flow) }
        }
    }

    /// Ends attempts, and then gives a host its next items.
    ///
    /// The standings are those after the ends: an end may raise what runs.
    func exchanged(_ exchange: HostExchange, at now: WallTime) throws -> HostExchange.Answer {
        var answer = HostExchange.Answer(mark: cache.mark)
        for end in exchange.ends { answer.ends.append(try attemptEnded(end, at: now)) }
        if let request = exchange.claim { answer.claims = try claimed(request, at: now) }
        answer.mark = cache.mark
        if exchange.mark != answer.mark { answer.standings = try rows.standings(of: exchange.leases) }
        answer.nextDue = try nextDue()
        return answer
    }

    /// Gives a host its next items, each with a new lease.
    ///
    /// The highest effective level wins. At that level the workloads take turns. Inside of a workload the earliest due
    /// time wins, then the lowest number. So each item is the one that a claim for it alone would give.
    ///
    /// - Complexity: a few looks into indexes for each lane of the host's workloads, and for each item.
    private func claimed(_ request: ClaimRequest, at now: WallTime) throws -> [WorkloadClaim] {
        // The asking host looks anyway; others need no hint because of its question.
        let concernedHosts = concernsHosts
        defer { concernsHosts = concernedHosts }
        try clockRead(now)
        let lanes = cache.lanes.filter { request.covers($0.name, version: $0.version) }
        let closed = try judgeGates(lanes, request, at: now)
        let paused = try pausedWorkloads()
        let open = lanes.filter { !closed.contains($0.gate) && !paused.contains($0.workload) }
        var windows = open.map { Window(lane: $0) }
        var places = request.places.filter { $0.value > 0 }
        var turns = Turns()
        var claims: [WorkloadClaim] = []
        while claims.count < request.limit, !places.isEmpty {
            // What the lanes give if each gives as many.
            let wanted = min(places.values.reduce(0) { $0 + min($1, 64) }, request.limit - claims.count, 64)
            let count = (wanted - 1) / max(windows.count, 1) + 1
            var best: (index: Int, front: Front, turn: Int64)?
            for index in windows.indices {
                guard let front = try front(of: &windows[index], Set(places.keys), atMost: count) else { continue }
                let turn = try turn(of: windows[index].lane, at: front.level, &turns)
                if let best {
                    let other = best.front
                    let isBetter =
                        (other.level, turn, front.due, front.id) < (front.level, best.turn, other.due, other.id)
                    guard isBetter else { continue }
                }
                best = (index, front, turn)
            }
            guard let (index, front, turn) = best else { break }
            let qosClass = front.level / 16
            turns.set(turn + 1, of: .init(qosClass: qosClass, workload: windows[index].lane.workload))
            turns.set(turn, of: .init(qosClass: qosClass, workload: 0))
            let claim = try claim(front.id, request, at: now)
            claims.append(claim)
            windows[index].fronts.removeFirst()
            let claimedClass = claim.record.level.qosClass
            let left = (places[claimedClass] ?? 1) - 1
            places[claimedClass] = left > 0 ? left : nil
            // The next item of a line may have come, and without its class no item of it may.
            if front.key != nil || left <= 0 { windows = open.map { Window(lane: $0) } }
        }
        for flow in turns.changed {
            try rows.execute(
                "INSERT INTO flow (class, workload, turns) VALUES (?1, ?2, ?3) "
                    + "ON CONFLICT (class, workload) DO UPDATE SET turns = ?3",
                [flow.qosClass, flow.workload, turns.known[flow]])
        }
        return claims
    }

    private func claim(_ id: Int64, _ request: ClaimRequest, at now: WallTime) throws -> WorkloadClaim {
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

    /// Returns the first item of a lane in the highest of some classes. On the way it parks items whose keys are full.
    private func front(of window: inout Window, _ classes: Set<QoSClass>, atMost count: Int) throws -> Front? {
        while true {
            if window.fronts.isEmpty {
                guard window.hasMore else { return nil }
                try read(&window, classes, atMost: count)
            }
            guard let front = window.fronts.first else { return nil }
            guard let key = front.key, try holders(of: key) != nil else { return front }
            try rows.execute("UPDATE item SET place = 2 WHERE id = ?", [front.id])
            window.fronts.removeFirst()
        }
    }

    private func read(_ window: inout Window, _ classes: Set<QoSClass>, atMost count: Int) throws {
        var fronts: [Front] = []
        for levels in Self.levels(of: classes) where fronts.count < count {
            let cursor = try rows.rows(
                "SELECT id, level, due, key, key_limit FROM item INDEXED BY item_ready WHERE place = 1 AND lane = ? "
                    + "AND level BETWEEN ? AND ? ORDER BY level DESC, due, id LIMIT ?",
                [window.lane.id, levels.lowerBound, levels.upperBound, count - fronts.count])
            while let row = try cursor.next() {
                let key: ConcurrencyKey? = try (row[3] as String?).map { ConcurrencyKey($0, limit: try row[4]) }
                fronts.append(Front(id: try row[0], level: try row[1], due: try row[2], key: key))
            }
        }
        window.fronts = fronts[...]
        window.hasMore = fronts.count == count
    }

    /// The turn of a flow. One that was idle has no claim to the turns that it did not take: its turn is at least that of
    /// the last claim.
    private func turn(of lane: StoreCache.Lane, at level: Int64, _ turns: inout Turns) throws -> Int64 {
        func known(_ workload: Int64) throws -> Int64 {
            let flow = Turns.Flow(qosClass: level / 16, workload: workload)
            if let turn = turns.known[flow] { return turn }
            let turn =
                try rows.integer(
                    "SELECT turns FROM flow WHERE class = ? AND workload = ?", [flow.qosClass, flow.workload]) ?? 0
            turns.known[flow] = turn
            return turn
        }
        return try max(known(lane.workload), known(0))
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
        while let row = try cursor.next() { closed[try row[0]] = (try row[1], try row[2]) }
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
