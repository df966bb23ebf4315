#if SQLite
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

/// What a process remembers of a store between its transactions. All of it can be read again.
struct StoreCache {
    /// A lane as its row has it.
    struct Lane {
        let id: Int64
        let workload: Int64
        let name: WorkloadName
        let gate: Int64
        let version: Int
    }

    var requests = RequestCache()
    var lanes: [Lane] = []
    var gates: [Int64: Set<WorkloadCondition>] = [:]
    /// The latest time that a call gave, which may be later than the stored one: a call that writes nothing stores none.
    var latest: WallTime?
    /// The stored one when ``latest`` was noted.
    var storedLatest: WallTime?
    /// Whether the commits of the connection wait for the disk; nil if that is not known.
    var isSynced: Bool?
}

/// The events of a store within one transaction of its database. `WorkloadTable` has the same events on values, and
/// both take their decisions from the same types: the life of an item, its times, the plan of an insertion.
///
/// Nothing recurses. Only the thread of the transaction uses it.
final class StoreTransaction {
    let rows: StoreRows
    let stepLimit: Int
    var cache: StoreCache
    var lastID: Int64
    private var laneCount: Int64
    private var storedLatest: WallTime?
    /// The latest time that the store was given.
    var latest: WallTime?
    /// Whether a host should look at the store.
    var concernsHosts = false
    /// The steps that this transaction may still take with items that became due or were released.
    var budget: Int
    private let changesAtBegin: Int
    /// Whether an ended item may have children that are not released yet.
    var mayHaveReleases: Bool
    /// Whether an item may wait for its time.
    var mayHaveDue: Bool
    /// Whether a workload may be paused.
    var hasPauses: Bool

    init(_ database: Database, _ cache: consuming StoreCache, stepLimit: Int) throws {
        rows = StoreRows(database: database)
        self.cache = cache
        self.stepLimit = stepLimit
        budget = stepLimit
        changesAtBegin = database.totalChangesCount
        // One statement for all that each call asks first.
        let found = try rows.row(
            "SELECT latest, last_id, lanes, EXISTS (SELECT 1 FROM release), "
                + "EXISTS (SELECT 1 FROM item INDEXED BY item_due WHERE place = 3), "
                + "EXISTS (SELECT 1 FROM workload WHERE paused IS NOT NULL) FROM store WHERE id = 1")
        guard let row = found else {
            throw StoreCodes.damage("no row in store")
        }
        storedLatest = (row[0] as Int64?).map { WallTime(nanosecondsSince1970: $0) }
        lastID = row[1]
        laneCount = row[2]
        (mayHaveReleases, mayHaveDue, hasPauses) = (row[3], row[4], row[5])
        // Another process may have stored a time of its own.
        latest = storedLatest == self.cache.storedLatest ? self.cache.latest ?? storedLatest : storedLatest
        if laneCount != Int64(self.cache.lanes.count) { try readLanes() }
    }

    /// Writes what the events changed of the store as a whole. The last step before the commit.
    func finish() throws {
        if rows.database.totalChangesCount != changesAtBegin
            || latest.map({ now in storedLatest.map { now < $0 } ?? false }) == true
        {
            try rows.execute(
                "UPDATE store SET latest = ?, last_id = ?, lanes = ? WHERE id = 1",
                [latest?.nanosecondsSince1970, lastID, laneCount])
            storedLatest = latest
        }
        cache.latest = latest
        cache.storedLatest = storedLatest
    }

    // MARK: Lanes

    private func readLanes() throws {
        cache.lanes = []
        let cursor = try rows.rows(
            "SELECT lane.id, lane.workload, workload.name, lane.gate, gate.conditions, lane.version FROM lane "
                + "JOIN workload ON workload.id = lane.workload JOIN gate ON gate.id = lane.gate ORDER BY lane.id")
        while let row = try cursor.next() {
            let gate: Int64 = row[3]
            if cache.gates[gate] == nil {
                cache.gates[gate] = try StoreCodes.decode(Set<WorkloadCondition>.self, row[4])
            }
            cache.lanes.append(
                .init(
                    id: row[0], workload: row[1], name: WorkloadName(row[2] as String), gate: gate, version: row[5]))
        }
    }

    /// Returns the number of a workload, and gives it one if it has none.
    func workload(_ name: WorkloadName) throws -> Int64 {
        if let known = cache.lanes.first(where: { $0.name == name }) { return known.workload }
        if let known = try rows.integer("SELECT id FROM workload WHERE name = ?", [name.rawValue]) { return known }
        try rows.execute("INSERT INTO workload (name) VALUES (?)", [name.rawValue])
        return rows.database.lastInsertedRowID
    }

    /// Returns the lane of an item, and makes it if there is none.
    func lane(of record: WorkloadRecord) throws -> StoreCache.Lane {
        let (name, version) = (record.request.name, record.request.version)
        let conditions = record.ignoresConditions ? [] : record.request.conditions
        if let known = cache.lanes.first(where: {
            $0.name == name && $0.version == version && cache.gates[$0.gate] == conditions
        }) {
            return known
        }
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
        let lane = StoreCache.Lane(
            id: rows.database.lastInsertedRowID, workload: workload, name: name, gate: gate, version: version)
        cache.lanes.append(lane)
        cache.gates[gate] = conditions
        laneCount += 1
        return lane
    }

    // MARK: Items

    func find(_ id: WorkloadItemID, isWhole: Bool = false) throws -> StoredItem? {
        let selection = isWhole ? StoredItem.wholeSelection : StoredItem.selection
        return try rows.first(selection + "WHERE item.id = ?", [id.rawValue]) { row in
            try StoredItem(row, isWhole: isWhole, &cache.requests)
        }
    }

    /// Returns an item that must be there: another row names it.
    func item(_ id: Int64) throws -> StoredItem {
        guard let item = try find(WorkloadItemID(rawValue: id)) else { throw StoreCodes.damage("no item \(id)") }
        return item
    }

    /// Returns an item that has not ended.
    func unfinished(_ id: WorkloadItemID) throws -> StoredItem {
        guard let item = try find(id) else { throw WorkloadStoreError.unknownItem(id) }
        guard !item.record.state.isEnded else { throw WorkloadStoreError.alreadyEnded(id, item.record.state) }
        return item
    }
}
#endif
