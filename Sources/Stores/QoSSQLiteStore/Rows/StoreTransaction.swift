#if SQLite
internal import FoundationEssentials
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

/// What a process remembers of a store between its transactions. All of it can be read again.
struct StoreCache {
    var requests = RequestCache()
    var lanes: [WorkloadLane] = []
    /// The latest time that a call gave, which may be later than the stored one: a call that writes nothing stores none.
    var latest: WallTime?
    /// The stored one when ``latest`` was noted.
    var storedLatest: WallTime?
    /// Changes with each request to the holder of a lease, also with one that another process may have made.
    var mark = TermsMark.fresh()
    /// The number by which SQLite tells whether another connection has written.
    var dataVersion: Int64?
    /// What the table of the tallies lacks.
    var tallyChanges: [Int64: Int64] = [:]
    /// Whether the commits of the connection wait for the disk; nil if that is not known.
    var isSynced: Bool?
}

/// What each call asks first.
private struct StoreHead {
    let latest: Int64?
    let lastID: Int64
    let lanes: Int64
    let hasReleases: Bool
    let hasDue: Bool
    let hasPauses: Bool
    let hasReplanned: Bool
}

/// The rows of a store within one transaction of its database. `WorkloadRules` of QoSWorkloads has the events.
///
/// Only the thread of the transaction uses it.
struct StoreTransaction {
    let rows: StoreRows
    var rules: RuleState
    var cache: StoreCache
    private var laneCount: Int64
    private var storedLatest: WallTime?
    private let tallies: TallyChanges
    private let changesAtBegin: Int
    /// Whether an ended item may have children that are not released yet.
    private var mayHaveReleases: Bool
    /// Whether an item may wait for its time.
    private var mayHaveDue: Bool
    /// Whether a workload may be paused.
    private var hasPauses: Bool
    private let replannedAtBegin: DuePlace?

    init(_ database: Database, _ cache: consuming StoreCache, _ tallies: TallyChanges, stepLimit: Int) throws {
        rows = StoreRows(database: database)
        self.cache = cache
        rules = RuleState(stepLimit: stepLimit)
        self.tallies = tallies
        tallies.clear()
        changesAtBegin = database.totalChangesCount
        // One statement for all that each call asks first.
        let found = try rows.first(
            "SELECT latest, last_id, lanes, EXISTS (SELECT 1 FROM release), "
                + "EXISTS (SELECT 1 FROM item INDEXED BY item_due WHERE place = 3), "
                + "EXISTS (SELECT 1 FROM workload WHERE paused IS NOT NULL), EXISTS (SELECT 1 FROM flow WHERE class = -1) "
                + "FROM store WHERE id = 1"
        ) { row in
            try StoreHead(
                latest: row[0], lastID: row[1], lanes: row[2], hasReleases: row[3], hasDue: row[4], hasPauses: row[5],
                hasReplanned: row[6])
        }
        guard let head = found else {
            throw StoreCodes.damage("no row in store")
        }
        storedLatest = head.latest.map { WallTime(nanosecondsSince1970: $0) }
        rules.lastID = head.lastID
        laneCount = head.lanes
        (mayHaveReleases, mayHaveDue, hasPauses) = (head.hasReleases, head.hasDue, head.hasPauses)
        let place =
            try head.hasReplanned ? rows.integers("SELECT turns FROM flow WHERE class = -1 ORDER BY workload") : []
        replannedAtBegin = place.count == 3 ? DuePlace(level: place[0], due: place[1], item: place[2]) : nil
        rules.replanned = replannedAtBegin
        let version = try rows.integer("PRAGMA data_version")
        if self.cache.dataVersion != version {
            // Another process has written since.
            self.cache.dataVersion = version
            self.cache.mark = .fresh()
            self.cache.tallyChanges = try rows.tallyChanges()
        }
        rules.mark = self.cache.mark
        // Another process may have stored a time of its own.
        rules.latest = storedLatest == self.cache.storedLatest ? self.cache.latest ?? storedLatest : storedLatest
        if laneCount != Int64(self.cache.lanes.count) { try readLanes() }
    }

    /// Writes what the events changed of the store as a whole. The last step before the commit.
    mutating func finish() throws {
        if rules.replanned != replannedAtBegin {
            if let place = rules.replanned {
                try rows.execute(
                    "INSERT OR REPLACE INTO flow (class, workload, turns) VALUES (-1, 1, ?), (-1, 2, ?), (-1, 3, ?)",
                    [place.level, place.due, place.item])
            } else {
                try rows.execute("DELETE FROM flow WHERE class = -1")
            }
        }
        if rows.database.totalChangesCount != changesAtBegin
            || rules.latest.map({ now in storedLatest.map { now < $0 } ?? false }) == true
        {
            let head: StoreRows.Arguments = [rules.latest?.nanosecondsSince1970, rules.lastID, laneCount]
            if tallies.move(to: &cache.tallyChanges) {
                let changes = try rows.keepTallyChanges(&cache.tallyChanges)
                try rows.execute(
                    "UPDATE store SET latest = ?, last_id = ?, lanes = ?, tally_changes = ? WHERE id = 1",
                    head + [changes])
            } else {
                try rows.execute("UPDATE store SET latest = ?, last_id = ?, lanes = ? WHERE id = 1", head)
            }
            storedLatest = rules.latest
        }
        (cache.latest, cache.storedLatest, cache.mark) = (rules.latest, storedLatest, rules.mark)
    }

    private mutating func readLanes() throws {
        cache.lanes = try rows.all(
            "SELECT lane.id, lane.workload, workload.name, lane.gate, gate.conditions, lane.version FROM lane "
                + "JOIN workload ON workload.id = lane.workload JOIN gate ON gate.id = lane.gate ORDER BY lane.id"
        ) { row in
            try WorkloadLane(
                id: row[0], workload: row[1], name: WorkloadName(row[2] as String), gate: row[3],
                conditions: StoreCodes.decode(Set<WorkloadCondition>.self, row[4] as String), version: row[5])
        }
        // A lane without its workload would hide its items for ever.
        guard cache.lanes.count == laneCount else {
            throw StoreCodes.damage("\(cache.lanes.count) lanes instead of \(laneCount)")
        }
    }

    /// Returns the number of a workload, and gives it one if it has none.
    private func workload(_ name: WorkloadName) throws -> Int64 {
        if let known = cache.lanes.first(where: { $0.name == name }) { return known.workload }
        if let known = try rows.integer("SELECT id FROM workload WHERE name = ?", [name.rawValue]) { return known }
        try rows.execute("INSERT INTO workload (name) VALUES (?)", [name.rawValue])
        return rows.database.lastInsertedRowID
    }
}

// MARK: - The rows

extension StoreTransaction: WorkloadRows {
    var changes: Int { rows.database.totalChangesCount }

    func damage(_ what: String) -> any Error { StoreCodes.damage(what) }

    mutating func find(_ id: WorkloadItemID, isWhole: Bool) throws -> ItemRow? {
        try rows.first(isWhole ? ItemRow.wholeByID : ItemRow.byID, [id.rawValue]) { row in
            try ItemRow(row, isWhole: isWhole, &cache.requests)
        }
    }

    func state(of id: WorkloadItemID) throws -> WorkloadState? {
        try rows.integer("SELECT state FROM item WHERE id = ?", [id.rawValue]).map(StoreCodes.state)
    }

    mutating func insert(_ item: ItemRow) throws {
        if item.place == .due { mayHaveDue = true }
        try item.insert(rows)
    }

    mutating func update(_ item: ItemRow) throws {
        if item.place == .due { mayHaveDue = true }
        try item.update(rows)
    }

    func updateRequest(of item: ItemRow) throws { try item.updateRequest(rows) }

    func move(_ id: WorkloadItemID, to place: ItemRow.Place) throws {
        try rows.execute("UPDATE item SET place = ? WHERE id = ?", [place.rawValue, id.rawValue])
    }

    func keep(_ checkpoint: [UInt8]?, of item: inout ItemRow) throws -> Bool {
        guard let checkpoint else {
            if item.hasCheckpoint { try rows.execute("DELETE FROM checkpoint WHERE item = ?", [item.id.rawValue]) }
            item.hasCheckpoint = false
            return false
        }
        try rows.execute(
            "INSERT INTO checkpoint (item, bytes) VALUES (?1, ?2) ON CONFLICT (item) DO UPDATE SET bytes = ?2 "
                + "WHERE bytes <> ?2", [item.id.rawValue, Data(checkpoint)])
        item.hasCheckpoint = true
        return rows.database.changesCount > 0
    }

    func keep(_ attempt: WorkloadAttempt, of id: WorkloadItemID) throws {
        try rows.execute(
            "INSERT INTO attempt (item, fence, number, host, began, ended, error) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                id.rawValue, Int64(bitPattern: attempt.fence), attempt.number, attempt.host,
                attempt.began.nanosecondsSince1970, attempt.ended.nanosecondsSince1970, attempt.error,
            ])
        try rows.execute(
            "DELETE FROM attempt WHERE item = ?1 AND fence <= "
                + "(SELECT fence FROM attempt WHERE item = ?1 ORDER BY fence DESC LIMIT 1 OFFSET ?2)",
            [id.rawValue, WorkloadAttempt.kept])
    }

    func removeEnded(before time: WallTime, in states: Set<WorkloadState>, atMost limit: Int) throws -> Int {
        let codes = states.filter(\.isEnded).map { String(StoreCodes.code(of: $0)) }.sorted().joined(separator: ", ")
        let old = try rows.integers(
            "SELECT id FROM item INDEXED BY item_ended WHERE state >= 5 AND since < ? AND state IN (\(codes)) "
                + "AND id NOT IN (SELECT parent FROM release) LIMIT ?", [time.nanosecondsSince1970, limit])
        for id in old {
            for table in ["checkpoint", "request", "attempt"] {
                try rows.execute("DELETE FROM \(table) WHERE item = ?", [id])
            }
            for column in ["parent", "child"] { try rows.execute("DELETE FROM orphan WHERE \(column) = ?", [id]) }
            try rows.execute("DELETE FROM item WHERE id = ?", [id])
        }
        return old.count
    }

    // MARK: Unique keys

    func item(withKey key: String) throws -> WorkloadItemID? {
        try rows.integer("SELECT item FROM unique_key WHERE key = ?", [key]).map(WorkloadItemID.init(rawValue:))
    }

    func setItem(_ id: WorkloadItemID, withKey key: String) throws {
        try rows.execute("INSERT OR REPLACE INTO unique_key (key, item) VALUES (?, ?)", [key, id.rawValue])
    }

    func pass(key: String, from id: WorkloadItemID, to other: WorkloadItemID?) throws {
        if let other {
            try rows.execute(
                "UPDATE unique_key SET item = ? WHERE key = ? AND item = ?", [other.rawValue, key, id.rawValue])
        } else {
            try rows.execute("DELETE FROM unique_key WHERE key = ? AND item = ?", [key, id.rawValue])
        }
    }

    // MARK: Dependencies

    func hasParents(_ child: WorkloadItemID) throws -> Bool {
        try rows.has("SELECT 1 FROM dependency WHERE child = ?", [child.rawValue])
    }

    func children(
        of parent: WorkloadItemID, atMost limit: Int
    ) throws -> [(child: WorkloadItemID, cancels: Bool)] {
        try rows.all(
            "SELECT child, cancels FROM dependency INDEXED BY dependency_parent WHERE parent = ? ORDER BY child LIMIT ?",
            [parent.rawValue, limit]
        ) { (WorkloadItemID(rawValue: try $0[0]), try $0[1]) }
    }

    func highestLevel(ofChildrenOf parent: WorkloadItemID) throws -> QoSLevel? {
        try rows.integer(
            "SELECT max(level) FROM item WHERE id IN (SELECT child FROM dependency WHERE parent = ?) "
                + "HAVING max(level) IS NOT NULL", [parent.rawValue]
        ).map(StoreCodes.level)
    }

    func waits(_ child: WorkloadItemID, for parent: WorkloadItemID) throws -> Bool {
        try rows.has(
            """
            WITH RECURSIVE reach (id) AS (
                VALUES (?1) UNION
                SELECT dependency.parent FROM reach CROSS JOIN dependency ON dependency.child = reach.id)
            SELECT 1 FROM reach WHERE id = ?2
            """, [child.rawValue, parent.rawValue])
    }

    func link(_ child: WorkloadItemID, to parent: WorkloadItemID, cancels: Bool) throws {
        try rows.execute(
            "INSERT OR REPLACE INTO dependency (child, parent, cancels) VALUES (?, ?, ?)",
            [child.rawValue, parent.rawValue, cancels])
    }

    func unlink(_ child: WorkloadItemID, from parent: WorkloadItemID?) throws {
        if let parent {
            try rows.execute(
                "DELETE FROM dependency WHERE child = ? AND parent = ?", [child.rawValue, parent.rawValue])
        } else {
            try rows.execute("DELETE FROM dependency WHERE child = ?", [child.rawValue])
        }
    }

    func moveChildren(of old: WorkloadItemID, to new: WorkloadItemID) throws {
        try rows.execute(
            "UPDATE OR REPLACE dependency SET parent = ?1 WHERE parent = ?2 AND child <> ?1",
            [new.rawValue, old.rawValue])
    }

    /// One statement raises a whole tree of dependencies. An item that rises passes it on to its parents.
    func raiseReach(
        _ ids: [WorkloadItemID], to level: QoSLevel
    ) throws -> (keyed: [ReadyItem], hasRunning: Bool) {
        let raised = try rows.all(
            """
            UPDATE item SET level = ?1 WHERE level < ?1 AND state < 5 AND id IN (
                WITH RECURSIVE reach (id) AS (
                    SELECT value FROM json_each(?2)
                    UNION
                    SELECT dependency.parent FROM reach
                    CROSS JOIN item AS one ON one.id = reach.id AND one.level < ?1
                    CROSS JOIN dependency ON dependency.child = reach.id)
                SELECT id FROM reach)
            RETURNING id, level, due, place, lane, key, key_limit, state
            """, [StoreCodes.code(of: level), StoreCodes.list(of: ids)]
        ) { row in (state: try StoreCodes.state(row[7]), item: try ReadyItem(row)) }
        let keyed = raised.filter { $0.state == .ready && $0.item.key != nil }
        return (keyed.map(\.item), raised.contains { $0.state == .running })
    }

    // MARK: Lost parents and releases

    func noteLostParents(of child: WorkloadItemID, with parent: WorkloadItemID) throws {
        try rows.execute(
            "INSERT OR IGNORE INTO orphan (parent, child) "
                + "SELECT ?2, ?1 UNION SELECT parent, child FROM dependency WHERE child = ?1",
            [child.rawValue, parent.rawValue])
    }

    func lostParents(of child: WorkloadItemID) throws -> [(id: WorkloadItemID, state: WorkloadState)] {
        try rows.all(
            "SELECT item.id, item.state FROM orphan JOIN item ON item.id = orphan.parent WHERE orphan.child = ? "
                + "ORDER BY item.id", [child.rawValue]
        ) { (WorkloadItemID(rawValue: try $0[0]), try StoreCodes.state($0[1])) }
    }

    func forgetLostParents(of child: WorkloadItemID) throws {
        try rows.execute("DELETE FROM orphan WHERE child = ?", [child.rawValue])
    }

    func lostChildren(
        of parent: WorkloadItemID, behind child: WorkloadItemID, atMost limit: Int
    ) throws -> [WorkloadItemID] {
        try rows.ids(
            "SELECT child FROM orphan WHERE parent = ? AND child > ? ORDER BY child LIMIT ?",
            [parent.rawValue, child.rawValue, limit])
    }

    func nextRelease() throws -> (parent: WorkloadItemID, behind: WorkloadItemID)? {
        guard mayHaveReleases else { return nil }
        return try rows.first("SELECT parent, behind FROM release ORDER BY parent LIMIT 1") { row in
            try (WorkloadItemID(rawValue: row[0]), WorkloadItemID(rawValue: row[1]))
        }
    }

    mutating func setRelease(of parent: WorkloadItemID, behind child: WorkloadItemID?) throws {
        guard let child else {
            if mayHaveReleases { try rows.execute("DELETE FROM release WHERE parent = ?", [parent.rawValue]) }
            return
        }
        mayHaveReleases = true
        try rows.execute(
            "INSERT OR REPLACE INTO release (parent, behind) VALUES (?, ?)", [parent.rawValue, child.rawValue])
    }

    // MARK: Times

    func takeDue(at now: WallTime, atMost limit: Int) throws -> [WorkloadItemID] {
        guard mayHaveDue else { return [] }
        var due: [WorkloadItemID] = []
        for level in try rows.dueLevels() where due.count < limit {
            due += try rows.ids(
                "SELECT id FROM item INDEXED BY item_due WHERE place = 3 AND level = ? AND due <= ? "
                    + "ORDER BY due, id LIMIT ?", [level, now.nanosecondsSince1970, limit - due.count])
        }
        return due
    }

    func due(behind place: DuePlace, atMost limit: Int) throws -> [DuePlace] {
        try rows.all(
            "SELECT level, due, id FROM item INDEXED BY item_due WHERE place = 3 AND (level, due, id) > (?, ?, ?) "
                + "ORDER BY level, due, id LIMIT ?", [place.level, place.due, place.item, limit]
        ) { try DuePlace(level: $0[0], due: $0[1], item: $0[2]) }
    }

    func firstDue() throws -> WallTime? { mayHaveDue ? try rows.firstDue() : nil }

    // MARK: Lanes

    var lanes: [WorkloadLane] { cache.lanes }

    mutating func makeLane(of record: WorkloadRecord) throws -> WorkloadLane {
        let (name, version, conditions) = (record.request.name, record.request.version, record.gateConditions)
        let text = try StoreCodes.encode(conditions)
        var gate = try rows.integer("SELECT id FROM gate WHERE conditions = ?", [text])
        if gate == nil {
            try rows.execute("INSERT INTO gate (conditions) VALUES (?)", [text])
            gate = rows.database.lastInsertedRowID
        }
        let workload = try workload(name)
        guard let gate else { throw StoreCodes.damage("gate \(text)") }
        try rows.execute(
            "INSERT INTO lane (workload, gate, version) VALUES (?, ?, ?)", [workload, gate, version])
        let lane = WorkloadLane(
            id: rows.database.lastInsertedRowID, workload: workload, name: name, gate: gate, conditions: conditions,
            version: version)
        cache.lanes.append(lane)
        laneCount += 1
        return lane
    }

    func fronts(
        ofLane lane: Int64, in classes: Set<QoSClass>, atMost limit: Int
    ) throws -> (fronts: [ReadyItem], hasMore: Bool) {
        var fronts: [ReadyItem] = []
        for levels in StoreCodes.levels(of: classes) where fronts.count < limit {
            fronts += try rows.all(
                "SELECT id, level, due, place, lane, key, key_limit FROM item INDEXED BY item_ready WHERE place = 1 "
                    + "AND lane = ? AND level BETWEEN ? AND ? ORDER BY level DESC, due, id LIMIT ?",
                [lane, levels.lowerBound, levels.upperBound, limit - fronts.count], ReadyItem.init)
        }
        return (fronts, fronts.count == limit)
    }

    /// The parked items are scanned along their index, 6 ms for 100,000 of them, once a minute. An index by due time
    /// would cost a write each time that one with a relative priority is parked.
    func overdue(dueBefore time: WallTime, atMost limit: Int) throws -> [(id: WorkloadItemID, level: QoSLevel)] {
        var overdue: [(id: WorkloadItemID, level: QoSLevel)] = []
        func add(_ sql: String, _ arguments: StoreRows.Arguments) throws {
            overdue += try rows.all(sql, arguments + [time.nanosecondsSince1970, limit - overdue.count]) { row in
                (WorkloadItemID(rawValue: try row[0]), try StoreCodes.level(row[1]))
            }
        }
        for lane in cache.lanes {
            for level in try rows.levels(ofLane: lane.id) where level % 16 != 15 {
                try add(
                    "SELECT id, level FROM item INDEXED BY item_ready WHERE place = 1 AND lane = ? AND level = ? "
                        + "AND due <= ? ORDER BY due LIMIT ?", [lane.id, level])
            }
        }
        try add(
            "SELECT id, level FROM item INDEXED BY item_parked WHERE place = 2 AND level % 16 <> 15 AND due <= ? "
                + "LIMIT ?", [])
        return overdue
    }

    func turns(of flow: WorkloadFlow) throws -> Int64 {
        try rows.integer(
            "SELECT turns FROM flow WHERE class = ? AND workload = ?", [flow.qosClass.rank, flow.workload]) ?? 0
    }

    func setTurns(_ turns: Int64, of flow: WorkloadFlow) throws {
        try rows.execute(
            "INSERT INTO flow (class, workload, turns) VALUES (?1, ?2, ?3) "
                + "ON CONFLICT (class, workload) DO UPDATE SET turns = ?3", [flow.qosClass.rank, flow.workload, turns])
    }

    func closedGates() throws -> [Int64: WorkloadHold] {
        let found = try rows.all("SELECT id, closed, closed_since FROM gate WHERE closed IS NOT NULL") { row in
            try (row[0] as Int64, WorkloadHold(row, at: 1))
        }
        return Dictionary(found, uniquingKeysWith: { $1 })
    }

    func setHold(_ hold: WorkloadHold?, ofGate gate: Int64) throws {
        try rows.execute(
            "UPDATE gate SET closed = ?, closed_since = ? WHERE id = ?",
            [hold?.reason, hold?.since.nanosecondsSince1970, gate])
    }

    mutating func setHold(_ hold: WorkloadHold?, of name: WorkloadName) throws {
        let workload = try workload(name)
        if hold != nil { hasPauses = true }
        try rows.execute(
            "UPDATE workload SET paused = ?, paused_since = ? WHERE id = ?",
            [hold?.reason, hold?.since.nanosecondsSince1970, workload])
    }

    // MARK: Concurrency keys

    func running(withKey key: String) throws -> [WorkloadItemID] {
        try rows.ids("SELECT id FROM item INDEXED BY item_running WHERE state = 4 AND key = ?", [key])
    }

    func setLastUse(_ time: WallTime?, ofKey key: String) throws {
        if let time {
            try rows.execute(
                "INSERT INTO key_use (key, since) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET since = ?2",
                [key, time.nanosecondsSince1970])
        } else {
            try rows.execute("DELETE FROM key_use WHERE key = ?", [key])
        }
    }

    /// One look finds each lane, each limit above the number, and each class.
    func unpark(_ lines: KeyLines, above running: Int) throws -> Bool {
        let levels = lines.qosClass.map { StoreCodes.levels(of: $0) } ?? 0...Int64.max
        if let lane = lines.lane, let limit = lines.limit { return try unpark(lines.key, lane, limit, levels) }
        var hasMoved = false
        var lane: Int64 = -1
        while let next = try rows.integer(
            "SELECT lane FROM item INDEXED BY item_parked WHERE place = 2 AND key = ? AND lane > ? "
                + "ORDER BY lane LIMIT 1", [lines.key, lane])
        {
            lane = next
            var limit = running
            while let wider = try rows.integer(
                "SELECT key_limit FROM item INDEXED BY item_parked WHERE place = 2 AND key = ? AND lane = ? "
                    + "AND key_limit > ? ORDER BY key_limit LIMIT 1", [lines.key, lane, limit])
            {
                limit = Int(wider)
                if try unpark(lines.key, lane, limit, levels) { hasMoved = true }
            }
        }
        return hasMoved
    }

    /// Moves the first parked item of each class into its lane.
    private func unpark(_ key: String, _ lane: Int64, _ limit: Int, _ levels: ClosedRange<Int64>) throws -> Bool {
        var hasMoved = false
        var level = levels.upperBound
        while let (id, found) = try rows.first(
            "SELECT id, level FROM item INDEXED BY item_parked WHERE place = 2 AND key = ? AND lane = ? "
                + "AND key_limit = ? AND level BETWEEN ? AND ? ORDER BY level DESC, due, id LIMIT 1",
            [key, lane, limit, levels.lowerBound, level],
            { row in (try row[0] as Int64, try row[1] as Int64) })
        {
            try move(WorkloadItemID(rawValue: id), to: .lane)
            hasMoved = true
            // The next class.
            level = found / 16 * 16 - 1
        }
        return hasMoved
    }

    // MARK: Leases

    func renew(_ leases: [WorkloadLease]) throws {
        for lease in leases {
            try rows.execute(
                "UPDATE item SET beat = beat + 1 WHERE id = ? AND state = 4 AND fence = ?",
                [lease.item.rawValue, Int64(bitPattern: lease.fence)])
        }
    }

    func standings(of leases: [WorkloadLease]) throws -> [WorkloadLease: LeaseStanding] {
        try rows.standings(of: leases)
    }

    // MARK: Looking at items

    func parents(of child: WorkloadItemID) throws -> [WorkloadItemID] { try rows.parents(of: child) }
    func displayName(of id: WorkloadItemID) throws -> String? { try rows.displayName(of: id) }
    func holds() throws -> [WorkloadName: WorkloadHold] { hasPauses ? try rows.holds() : [:] }
    func hold(ofLane lane: Int64) throws -> WorkloadHold? { try rows.hold(ofLane: lane) }
    func runningCount(ofKey key: String) throws -> Int { try rows.runningCount(ofKey: key) }
    func lastUse(ofKey key: String) throws -> WallTime? { try rows.lastUse(ofKey: key) }
}
#endif
