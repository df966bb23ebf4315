#if SQLite
internal import GRDB
internal import QoSCore
internal import QoSWorkloads
internal import Synchronization

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
    /// Changes with each request to the holder of a lease, also with one that another process may have made.
    var mark = newMark()
    /// The number by which SQLite tells whether another connection has written.
    var dataVersion: Int64?
    /// Whether the commits of the connection wait for the disk; nil if that is not known.
    var isSynced: Bool?

    private static let lastMark = Atomic<UInt64>(0)

    /// A mark that the process has not used before.
    static func newMark() -> TermsMark { TermsMark(number: lastMark.add(1, ordering: .relaxed).newValue) }
}

/// The events of a store within one transaction of its database. `WorkloadTable` has the same events on values, and
/// both take their decisions from the same types: the life of an item, its times, the plan of an insertion.
///
/// Nothing recurses. Only the thread of the transaction uses it.
final class StoreTransaction {
    /// The place of a waiting item in the order of `item_due`.
    struct Replanned: Equatable {
        let level: Int64
        let due: Int64
        let item: Int64
    }

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
    /// The last item that was planned again after the clock was set back; `nil` if all are.
    var replanned: Replanned?
    private let replannedAtBegin: Replanned?

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
                + "EXISTS (SELECT 1 FROM workload WHERE paused IS NOT NULL), EXISTS (SELECT 1 FROM flow WHERE class = -1) "
                + "FROM store WHERE id = 1")
        guard let row = found else {
            throw StoreCodes.damage("no row in store")
        }
        storedLatest = (try row[0] as Int64?).map { WallTime(nanosecondsSince1970: $0) }
        lastID = try row[1]
        laneCount = try row[2]
        (mayHaveReleases, mayHaveDue, hasPauses) = (try row[3], try row[4], try row[5])
        let place = try row[6] ? rows.integers("SELECT turns FROM flow WHERE class = -1 ORDER BY workload") : []
        replanned = place.count == 3 ? Replanned(level: place[0], due: place[1], item: place[2]) : nil
        replannedAtBegin = replanned
        let version = try rows.integer("PRAGMA data_version")
        if self.cache.dataVersion != version {
            // Another process has written since.
            self.cache.dataVersion = version
            self.cache.mark = StoreCache.newMark()
        }
        // Another process may have stored a time of its own.
        latest = storedLatest == self.cache.storedLatest ? self.cache.latest ?? storedLatest : storedLatest
        if laneCount != Int64(self.cache.lanes.count) { try readLanes() }
    }

    /// Writes what the events changed of the store as a whole. The last step before the commit.
    func finish() throws {
        if replanned != replannedAtBegin {
            if let replanned {
                try rows.execute(
                    "INSERT OR REPLACE INTO flow (class, workload, turns) VALUES (-1, 1, ?), (-1, 2, ?), (-1, 3, ?)",
                    [replanned.level, replanned.due, replanned.item])
            } else {
                try rows.execute("DELETE FROM flow WHERE class = -1")
            }
        }
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
            let gate: Int64 = try row[3]
            if cache.gates[gate] == nil {
                cache.gates[gate] = try StoreCodes.decode(Set<WorkloadCondition>.self, row[4] as String)
            }
            cache.lanes.append(
                try .init(
                    id: row[0], workload: row[1], name: WorkloadName(row[2] as String), gate: gate, version: row[5]))
        }
        // A lane without its workload would hide its items for ever.
        guard cache.lanes.count == laneCount else {
            throw StoreCodes.damage("\(cache.lanes.count) lanes instead of \(laneCount)")
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

    /// Notes a request to the holder of a lease, or the loss of one.
    func termsChanged() {
        cache.mark = StoreCache.newMark()
        concernsHosts = true
    }

    func find(_ id: WorkloadItemID, isWhole: Bool = false) throws -> StoredItem? {
        try rows.first(isWhole ? StoredItem.wholeByID : StoredItem.byID, [id.rawValue]) { row in
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
