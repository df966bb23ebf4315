#if SQLite
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

extension StoreRows {
    /// The unfinished parents of an item, in order.
    func parents(of id: Int64) throws -> [Int64] {
        try integers("SELECT parent FROM dependency WHERE child = ? ORDER BY parent", [id])
    }

    // MARK: Leases

    func isHeld(_ lease: WorkloadLease) throws -> Bool {
        try has(
            "SELECT 1 FROM item WHERE id = ? AND state = 4 AND fence = ?",
            [lease.item.rawValue, Int64(bitPattern: lease.fence)])
    }

    /// Returns the standing of a lease.
    func standing(of lease: WorkloadLease) throws -> LeaseStanding {
        let found = try row(
            "SELECT item.level, item.cancellation, workload.paused FROM item "
                + "JOIN workload ON workload.id = item.workload WHERE item.id = ? AND state = 4 AND fence = ?",
            [lease.item.rawValue, Int64(bitPattern: lease.fence)])
        guard let row = found else { return .lost }
        return .held(
            LeaseTerms(level: try StoreCodes.level(row[0]), cancellation: try row[1], deferral: try row[2]))
    }

    /// Returns the standings of leases, in one statement.
    func standings(of leases: [WorkloadLease]) throws -> [WorkloadLease: LeaseStanding] {
        guard !leases.isEmpty else { return [:] }
        var standings = Dictionary(leases.map { ($0, LeaseStanding.lost) }, uniquingKeysWith: { $1 })
        // The database reads a list as JSON.
        let list = "[" + leases.map { "\($0.item.rawValue)" }.joined(separator: ",") + "]"
        let cursor = try rows(
            "SELECT item.id, item.fence, item.level, item.cancellation, workload.paused FROM json_each(?) AS list "
                + "CROSS JOIN item ON item.id = list.value JOIN workload ON workload.id = item.workload "
                + "WHERE item.state = 4", [list])
        while let row = try cursor.next() {
            let fence = UInt64(bitPattern: try row[1] as Int64)
            let lease = WorkloadLease(item: WorkloadItemID(rawValue: try row[0]), fence: fence)
            guard standings[lease] != nil else { continue }
            standings[lease] = .held(
                LeaseTerms(level: try StoreCodes.level(row[2]), cancellation: try row[3], deferral: try row[4]))
        }
        return standings
    }

    /// The valid leases, in the order of their items.
    func leases() throws -> [LeaseSighting] {
        let cursor = try rows(
            "SELECT id, fence, beat, host FROM item INDEXED BY item_running WHERE state = 4 ORDER BY id")
        var found: [LeaseSighting] = []
        while let row = try cursor.next() {
            let lease = WorkloadLease(
                item: WorkloadItemID(rawValue: try row[0]), fence: UInt64(bitPattern: try row[1] as Int64))
            let (host, process) = StoreCodes.holder(try row[3] ?? "")
            found.append(
                LeaseSighting(
                    lease: lease, beat: UInt64(bitPattern: try row[2] as Int64), host: host, process: process))
        }
        return found
    }

    // MARK: Numbers

    /// The levels of the items that wait in a lane, the highest first.
    ///
    /// - Complexity: one look into the index for each level.
    func levels(ofLane lane: Int64) throws -> [Int64] {
        var levels: [Int64] = []
        var last: Int64 = .max
        while let next = try integer(
            "SELECT level FROM item INDEXED BY item_ready WHERE place = 1 AND lane = ? AND level < ? "
                + "ORDER BY level DESC LIMIT 1", [lane, last])
        {
            levels.append(next)
            last = next
        }
        return levels
    }

    /// Counts the items by class and state.
    ///
    /// - Complexity: O(lanes), and a pass over the index of the items whose key is full.
    func summary() throws -> WorkloadSummary {
        var summary = WorkloadSummary()
        let cursor = try rows(
            "SELECT tally.code, tally.items, workload.paused IS NOT NULL OR gate.closed IS NOT NULL FROM tally "
                + "JOIN lane ON lane.id = tally.code / 256 JOIN gate ON gate.id = lane.gate "
                + "JOIN workload ON workload.id = lane.workload WHERE tally.items > 0")
        var waiting: [(Int64, WorkloadState)] = []
        var hasParked = false
        while let row = try cursor.next() {
            let code: Int64 = try row[0]
            guard let qosClass = QoSClass(rank: Int(code % 256 / 32)),
                let place = StoredItem.Place(rawValue: code % 4)
            else { throw StoreCodes.damage("tally \(code)") }
            var state = try StoreCodes.state(code % 32 / 4)
            let isHeldUp: Bool = try row[2]
            if place == .parked || (place == .lane && isHeldUp) { state = .deferred }
            summary.add(try row[1], qosClass, state)
            if place == .parked { hasParked = true }
            if place == .lane { waiting.append((code / 256, state)) }
        }
        for (lane, state) in Dictionary(waiting, uniquingKeysWith: { $1 }) {
            for level in try levels(ofLane: lane) {
                let due = try integer(
                    "SELECT due FROM item INDEXED BY item_ready WHERE place = 1 AND lane = ? AND level = ? "
                        + "ORDER BY due LIMIT 1", [lane, level])
                guard let due else { continue }
                summary.add(
                    0, try StoreCodes.level(level).qosClass, state, due: WallTime(nanosecondsSince1970: due))
            }
        }
        guard hasParked else { return summary }
        let parked = try rows(
            "SELECT level / 16, min(due) FROM item INDEXED BY item_parked WHERE place = 2 GROUP BY level / 16")
        while let row = try parked.next() {
            let qosClass = try StoreCodes.level((try row[0] as Int64) * 16 + 15).qosClass
            summary.add(0, qosClass, .deferred, due: WallTime(nanosecondsSince1970: try row[1]))
        }
        return summary
    }

    /// The last failed attempts of an item, in order.
    func attempts(of id: WorkloadItemID) throws -> [WorkloadAttempt] {
        let cursor = try rows(
            "SELECT fence, number, host, began, ended, error FROM attempt WHERE item = ? ORDER BY fence", [id.rawValue])
        var found: [WorkloadAttempt] = []
        while let row = try cursor.next() {
            found.append(
                try WorkloadAttempt(
                    fence: UInt64(bitPattern: row[0] as Int64), number: row[1], host: row[2],
                    began: WallTime(nanosecondsSince1970: row[3]), ended: WallTime(nanosecondsSince1970: row[4]),
                    error: row[5]))
        }
        return found
    }

    // MARK: Records

    /// Returns an item with its state as it is now: a closed gate or a full key defers a ready item.
    func record(_ id: WorkloadItemID, _ cache: inout RequestCache) throws -> WorkloadRecord? {
        let item = try first(StoredItem.wholeByID, [id.rawValue]) { row in
            try StoredItem(row, isWhole: true, &cache)
        }
        return try item.map { try derived($0) }
    }

    /// Completes the record of an item from other rows.
    private func derived(_ item: StoredItem) throws -> WorkloadRecord {
        var record = item.record
        record.waitsFor = try parents(of: item.id).map(WorkloadItemID.init(rawValue:))
        switch record.state {
        case .ready:
            if let (reason, since) = try deferral(of: item) {
                record.life = record.life.deferred(because: reason, since: since)
            }
        case .blocked:
            if let first = record.waitsFor.first {
                let name = try row(
                    "SELECT name FROM workload WHERE id = (SELECT workload FROM item WHERE id = ?)", [first.rawValue]
                ).map { try $0[0] as String }
                let reason = WorkloadRecord.reason(
                    waitingFor: "\(name ?? "") \(first)", others: record.waitsFor.count - 1)
                record.life.waitChanged(to: .parents(reason), at: record.life.since)
            }
        default: break
        }
        return record
    }

    /// Returns why an item that is ready by itself has to wait; `nil` if it need not.
    func deferral(of item: StoredItem) throws -> (reason: String, since: WallTime)? {
        let pause = try row(
            "SELECT paused, paused_since FROM workload WHERE id = ? AND paused IS NOT NULL", [item.workload])
        if let row = pause { return (try row[0], WallTime(nanosecondsSince1970: try row[1] as Int64? ?? 0)) }
        if let key = item.key {
            let running =
                try integer(
                    "SELECT count(*) FROM item INDEXED BY item_running WHERE state = 4 AND key = ?", [key.key]) ?? 0
            if running >= key.limit {
                let since = try integer("SELECT since FROM key_use WHERE key = ?", [key.key]) ?? 0
                return (
                    WorkloadRecord.reason(running: Int(running), of: key), WallTime(nanosecondsSince1970: since)
                )
            }
        }
        let gate = try row(
            "SELECT closed, closed_since FROM gate WHERE id = (SELECT gate FROM lane WHERE id = ?) "
                + "AND closed IS NOT NULL", [item.lane])
        guard let row = gate else { return nil }
        return (try row[0], WallTime(nanosecondsSince1970: try row[1] as Int64? ?? 0))
    }

    /// Returns the items of a selection, in the order of their numbers.
    func records(matching query: WorkloadQuery, _ cache: inout RequestCache) throws -> [WorkloadRecord] {
        guard query.limit > 0 else { return [] }
        // Each is a state of its own, or that of a ready item which has to wait.
        var states = query.states.isEmpty ? Set(WorkloadState.allCases) : query.states
        if states.contains(.deferred) { states.insert(.ready) }
        let codes = states.map { String(StoreCodes.code(of: $0)) }.sorted().joined(separator: ", ")
        let selection = query.onFileEvents ? StoredItem.fileEventSelection : StoredItem.wholeSelection
        let fileEvents = query.onFileEvents ? "AND \(StoreSchema.mayBeOnFileEvents) " : ""
        var found: [WorkloadRecord] = []
        var after = query.after?.rawValue ?? .min
        while true {
            let cursor = try rows(
                selection
                    + "WHERE item.id > ? AND item.state IN (\(codes)) AND (?2 IS NULL OR workload.name = ?2) "
                    + fileEvents + "ORDER BY item.id LIMIT 256", [after, query.name?.rawValue])
            var items: [StoredItem] = []
            while let row = try cursor.next() { items.append(try StoredItem(row, isWhole: true, &cache)) }
            for item in items {
                let record = try derived(item)
                guard query.states.isEmpty || query.states.contains(record.state) else { continue }
                // A label may have the text of a schedule.
                guard !query.onFileEvents || record.request.schedule.isOnFileEvents else { continue }
                found.append(record)
                if found.count == query.limit { return found }
            }
            guard let last = items.last, items.count == 256 else { return found }
            after = last.id
        }
    }

    /// Returns the paused workloads with their reasons.
    func pauses() throws -> [WorkloadName: String] {
        var found: [WorkloadName: String] = [:]
        let cursor = try rows("SELECT name, paused FROM workload WHERE paused IS NOT NULL")
        while let row = try cursor.next() { found[WorkloadName(try row[0] as String)] = try row[1] }
        return found
    }
}
#endif
