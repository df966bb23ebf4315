#if SQLite
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

extension StoreRows: WorkloadReading {
    func parents(of child: WorkloadItemID) throws -> [WorkloadItemID] {
        try ids("SELECT parent FROM dependency WHERE child = ? ORDER BY parent", [child.rawValue])
    }

    func displayName(of id: WorkloadItemID) throws -> String? {
        try first(
            "SELECT name FROM workload WHERE id = (SELECT workload FROM item WHERE id = ?)", [id.rawValue]
        ) { "\(try $0[0] as String) \(id)" }
    }

    func holds() throws -> [WorkloadName: WorkloadHold] {
        let found = try all("SELECT name, paused, paused_since FROM workload WHERE paused IS NOT NULL") { row in
            try (WorkloadName(row[0] as String), WorkloadHold(row, at: 1))
        }
        return Dictionary(found, uniquingKeysWith: { $1 })
    }

    func hold(ofLane lane: Int64) throws -> WorkloadHold? {
        try first(
            "SELECT closed, closed_since FROM gate WHERE id = (SELECT gate FROM lane WHERE id = ?) "
                + "AND closed IS NOT NULL", [lane]
        ) { try WorkloadHold($0, at: 0) }
    }

    func runningCount(ofKey key: String) throws -> Int {
        let count = try integer(
            "SELECT count(*) FROM item INDEXED BY item_running WHERE state = 4 AND key = ?", [key])
        return Int(count ?? 0)
    }

    func lastUse(ofKey key: String) throws -> WallTime? {
        try integer("SELECT since FROM key_use WHERE key = ?", [key]).map { WallTime(nanosecondsSince1970: $0) }
    }
}

extension WorkloadHold {
    /// Reads a reason and the time since when from two columns.
    init(_ row: StoreRow, at column: Int) throws {
        self.init(
            reason: try row[column], since: WallTime(nanosecondsSince1970: try row[column + 1] as Int64? ?? 0))
    }
}

extension StoreRows {
    // MARK: Leases

    /// Returns the standings of leases, in one statement.
    func standings(of leases: [WorkloadLease]) throws -> [WorkloadLease: LeaseStanding] {
        guard !leases.isEmpty else { return [:] }
        var standings = Dictionary(leases.map { ($0, LeaseStanding.lost) }, uniquingKeysWith: { $1 })
        try each(
            "SELECT item.id, item.fence, item.level, item.cancellation, workload.paused FROM json_each(?) AS list "
                + "CROSS JOIN item ON item.id = list.value JOIN workload ON workload.id = item.workload "
                + "WHERE item.state = 4", [StoreCodes.list(of: leases.map(\.item))]
        ) { row in
            let fence = UInt64(bitPattern: try row[1] as Int64)
            let lease = WorkloadLease(item: WorkloadItemID(rawValue: try row[0]), fence: fence)
            guard standings[lease] != nil else { return }
            standings[lease] = .held(
                LeaseTerms(level: try StoreCodes.level(row[2]), cancellation: try row[3], deferral: try row[4]))
        }
        return standings
    }

    /// The valid leases, in the order of their items.
    func leases() throws -> [LeaseSighting] {
        try all(
            "SELECT id, fence, beat, host FROM item INDEXED BY item_running WHERE state = 4 ORDER BY id"
        ) { row in
            let lease = WorkloadLease(
                item: WorkloadItemID(rawValue: try row[0]), fence: UInt64(bitPattern: try row[1] as Int64))
            let (host, process) = StoreCodes.holder(try row[3] ?? "")
            return LeaseSighting(
                lease: lease, beat: UInt64(bitPattern: try row[2] as Int64), host: host, process: process)
        }
    }

    // MARK: Numbers

    /// The levels of the items that wait in a lane, the highest first.
    ///
    /// - Complexity: one look into the index for each level.
    func levels(ofLane lane: Int64) throws -> [Int64] {
        var levels: [Int64] = []
        while let next = try integer(
            "SELECT level FROM item INDEXED BY item_ready WHERE place = 1 AND lane = ? AND level < ? "
                + "ORDER BY level DESC LIMIT 1", [lane, levels.last ?? .max])
        {
            levels.append(next)
        }
        return levels
    }

    /// Counts the items by class and state.
    ///
    /// - Complexity: O(lanes), and a pass over the index of the items whose key is full.
    func summary() throws -> WorkloadSummary {
        var summary = WorkloadSummary()
        var waiting: [(Int64, WorkloadState)] = []
        var hasParked = false
        try each(
            "SELECT sums.code, sums.items, workload.paused IS NOT NULL OR gate.closed IS NOT NULL FROM ("
                + "SELECT code, sum(items) AS items FROM (SELECT code, items FROM tally UNION ALL "
                + "SELECT CAST(list.key AS INTEGER), list.value FROM store JOIN json_each(store.tally_changes) AS list) "
                + "GROUP BY code) AS sums JOIN lane ON lane.id = sums.code / 256 JOIN gate ON gate.id = lane.gate "
                + "JOIN workload ON workload.id = lane.workload WHERE sums.items > 0"
        ) { row in
            let code: Int64 = try row[0]
            guard let qosClass = QoSClass(rank: Int(code % 256 / 32)),
                let place = ItemRow.Place(rawValue: code % 4)
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
        try each(
            "SELECT level / 16, min(due) FROM item INDEXED BY item_parked WHERE place = 2 GROUP BY level / 16"
        ) { row in
            let qosClass = try StoreCodes.level((try row[0] as Int64) * 16 + 15).qosClass
            summary.add(0, qosClass, .deferred, due: WallTime(nanosecondsSince1970: try row[1]))
        }
        return summary
    }

    /// Reads the changes that are not in the table yet.
    func tallyChanges() throws -> [Int64: Int64] {
        let found = try all(
            "SELECT CAST(list.key AS INTEGER), list.value FROM store JOIN json_each(store.tally_changes) AS list "
                + "WHERE store.id = 1"
        ) { row in (try row[0] as Int64, try row[1] as Int64) }
        return Dictionary(found, uniquingKeysWith: &+)
    }

    /// Writes changes to the table if there are many; the rest is text for the row of the store.
    func keepTallyChanges(_ changes: inout [Int64: Int64]) throws -> String {
        if changes.count > TallyChanges.limit {
            for (code, change) in changes {
                try execute(
                    "INSERT INTO tally VALUES (?1, ?2) ON CONFLICT DO UPDATE SET items = items + ?2", [code, change])
            }
            changes = [:]
        }
        return "{" + changes.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    /// The last failed attempts of an item, in order.
    func attempts(of id: WorkloadItemID) throws -> [WorkloadAttempt] {
        try all(
            "SELECT fence, number, host, began, ended, error FROM attempt WHERE item = ? ORDER BY fence", [id.rawValue]
        ) { row in
            try WorkloadAttempt(
                fence: UInt64(bitPattern: row[0] as Int64), number: row[1], host: row[2],
                began: WallTime(nanosecondsSince1970: row[3]), ended: WallTime(nanosecondsSince1970: row[4]),
                error: row[5])
        }
    }

    // MARK: Records

    /// Returns an item with its state as it is now: a closed gate or a full key defers a ready item.
    func record(_ id: WorkloadItemID, _ cache: inout RequestCache) throws -> WorkloadRecord? {
        let item = try first(ItemRow.wholeByID, [id.rawValue]) { row in
            try ItemRow(row, isWhole: true, &cache)
        }
        return try item.map { try record(of: $0) }
    }

    /// Returns the items of a selection, in the order of their numbers.
    func records(matching query: WorkloadQuery, _ cache: inout RequestCache) throws -> [WorkloadRecord] {
        guard query.limit > 0 else { return [] }
        // Each is a state of its own, or that of a ready item which has to wait.
        var states = query.states.isEmpty ? Set(WorkloadState.allCases) : query.states
        if states.contains(.deferred) { states.insert(.ready) }
        let codes = states.map { String(StoreCodes.code(of: $0)) }.sorted().joined(separator: ", ")
        let selection = query.onFileEvents ? ItemRow.fileEventSelection : ItemRow.wholeSelection
        let fileEvents = query.onFileEvents ? "AND \(StoreSchema.mayBeOnFileEvents) " : ""
        var found: [WorkloadRecord] = []
        var after = query.after?.rawValue ?? .min
        while true {
            let items = try all(
                selection
                    + "WHERE item.id > ? AND item.state IN (\(codes)) AND (?2 IS NULL OR workload.name = ?2) "
                    + fileEvents + "ORDER BY item.id LIMIT 256", [after, query.name?.rawValue]
            ) { try ItemRow($0, isWhole: true, &cache) }
            for item in items {
                let record = try record(of: item)
                guard query.states.isEmpty || query.states.contains(record.state) else { continue }
                // A label may have the text of a schedule.
                guard !query.onFileEvents || record.request.schedule.isOnFileEvents else { continue }
                found.append(record)
                if found.count == query.limit { return found }
            }
            guard let last = items.last, items.count == 256 else { return found }
            after = last.id.rawValue
        }
    }

    // MARK: Times

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
        let first = try dueLevels().compactMap { level in
            try integer(
                "SELECT due FROM item INDEXED BY item_due WHERE place = 3 AND level = ? ORDER BY due LIMIT 1", [level])
        }.min()
        return first.flatMap { $0 == .max ? nil : WallTime(nanosecondsSince1970: $0) }
    }

    /// The levels of the items that wait for their time, the highest first.
    ///
    /// - Complexity: one look into the index for each level.
    func dueLevels() throws -> [Int64] {
        var levels: [Int64] = []
        while let level = try integer(
            "SELECT level FROM item INDEXED BY item_due WHERE place = 3 AND level < ? ORDER BY level DESC LIMIT 1",
            [levels.last ?? .max])
        {
            levels.append(level)
        }
        return levels
    }
}
#endif
