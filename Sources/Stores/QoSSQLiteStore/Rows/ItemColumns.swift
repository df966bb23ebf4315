#if SQLite
internal import FoundationEssentials
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

/// The requests that were decoded last, by their text.
struct RequestCache {
    private var requests: [String: WorkloadRequest] = [:]

    mutating func request(_ options: String) throws -> WorkloadRequest {
        if let known = requests[options] { return known }
        let request = try StoreCodes.decode(WorkloadRequest.self, options)
        // Labels and unique keys may make each text different.
        if requests.count >= 256 { requests.removeAll(keepingCapacity: true) }
        requests[options] = request
        return request
    }
}

extension ItemRow.Place {
    init(column: Int64) throws {
        guard let place = Self(rawValue: column) else { throw StoreCodes.damage("place \(column)") }
        self = place
    }
}

extension ReadyItem {
    /// Reads the columns id, level, due, place, lane, key and key_limit.
    init(_ row: StoreRow) throws {
        let key: ConcurrencyKey? = try (row[5] as String?).map { ConcurrencyKey($0, limit: try row[6]) }
        self.init(
            id: WorkloadItemID(rawValue: try row[0]), level: try StoreCodes.level(row[1]),
            due: WallTime(nanosecondsSince1970: try row[2]), place: try ItemRow.Place(column: row[3]),
            lane: try row[4], key: key)
    }
}

/// The columns of an item.
extension ItemRow {
    private static let columns = """
        item.id, item.workload, item.lane, item.place, item.level, item.due, item.state, item.since, item.flags,
        item.attempts, item.fence, item.beat, item.finished_runs, item.failed_runs, item.inserted, item.window_end,
        item.planned, item.last_run, item.delay_length, item.delay_begin, item.first_trigger, item.reason, item.host,
        item.cancellation, item.last_error, item.progress, workload.name, request.level, request.options,
        item.crashes, item.deferrals,
        EXISTS (SELECT 1 FROM dependency WHERE child = item.id),
        EXISTS (SELECT 1 FROM dependency INDEXED BY dependency_parent WHERE parent = item.id)
        """
    private static let tables =
        "item JOIN request ON request.item = item.id JOIN workload ON workload.id = item.workload"

    /// Selects an item without its parameters and checkpoint, which may be large.
    static let byID = "SELECT \(columns) FROM \(tables) WHERE item.id = ?"

    /// Selects items with all that they have.
    static let wholeSelection = """
        SELECT \(columns), request.parameters, checkpoint.bytes
        FROM \(tables) LEFT JOIN checkpoint ON checkpoint.item = item.id\u{20}
        """

    /// Selects an item with all that it has.
    static let wholeByID = wholeSelection + "WHERE item.id = ?"

    /// The same as ``wholeSelection``, from the requests that may be on file events.
    static let fileEventSelection = """
        SELECT \(columns), request.parameters, checkpoint.bytes
        FROM request INDEXED BY request_on_file_events JOIN item ON item.id = request.item
        JOIN workload ON workload.id = item.workload LEFT JOIN checkpoint ON checkpoint.item = item.id\u{20}
        """

    init(_ row: StoreRow, isWhole: Bool, _ cache: inout RequestCache) throws {
        func time(_ index: Int) throws -> WallTime { WallTime(nanosecondsSince1970: try row[index]) }
        func optionalTime(_ index: Int) throws -> WallTime? {
            (try row[index] as Int64?).map { WallTime(nanosecondsSince1970: $0) }
        }
        let level = try StoreCodes.level(row[27])
        var request: WorkloadRequest
        let name = WorkloadName(try row[26] as String)
        if let options = try row[28] as String? {
            request = try cache.request(options)
            request.name = name
            request.level = level
        } else {
            request = WorkloadRequest(name, level: level)
        }
        if isWhole { request.parameters = Array(try row[33] as Data) }
        var parts = try WorkloadLife.Parts(state: StoreCodes.state(row[6]), reason: row[21], since: time(7))
        parts.attempts = try row[9]
        parts.fence = UInt64(bitPattern: try row[10] as Int64)
        parts.beat = UInt64(bitPattern: try row[11] as Int64)
        parts.finishedRuns = try row[12]
        parts.failedRuns = try row[13]
        parts.crashes = try row[29]
        parts.deferrals = try row[30]
        parts.hasProgressed = (try row[8] as Int64) & 16 != 0
        if let holder = try row[22] as String? { (parts.host, parts.process) = StoreCodes.holder(holder) }
        parts.cancellation = try row[23]
        parts.lastError = try row[24]
        var record = try WorkloadRecord(
            id: WorkloadItemID(rawValue: row[0]), request: request, inserted: time(14), life: WorkloadLife(parts),
            level: StoreCodes.level(row[4]), window: RunWindow(start: time(5), end: time(15)))
        record.planned = try time(16)
        record.lastRun = try optionalTime(17)
        if let length = try row[18] as Int64?, let begin = try optionalTime(19) {
            record.delay = .init(length: .nanoseconds(length), begin: begin)
        }
        record.firstTrigger = try optionalTime(20)
        record.progress = try (row[25] as String?).map { try StoreCodes.decode(WorkloadProgress.self, $0) }
        let flags: Int64 = try row[8]
        record.hasBegun = flags & 1 != 0
        record.isTriggeredAgain = flags & 2 != 0
        record.ignoresConditions = flags & 4 != 0
        if isWhole { record.checkpoint = (try row[34] as Data?).map(Array.init) }
        self.init(record: record, lane: try row[2])
        hasCheckpoint = flags & 8 != 0
        mayHaveParents = try row[31]
        mayHaveChildren = try row[32]
        place = try Place(column: row[3])
    }

    /// The values of the columns that change, in the order of both statements.
    private var values: StoreRows.Arguments {
        get throws {
            let life = record.life
            let flags: Int64 =
                (record.hasBegun ? 1 : 0) | (record.isTriggeredAgain ? 2 : 0) | (record.ignoresConditions ? 4 : 0)
                | (hasCheckpoint ? 8 : 0) | (life.hasProgressed ? 16 : 0)
            return [
                lane, place.rawValue, StoreCodes.code(of: record.level), record.due.nanosecondsSince1970,
                StoreCodes.code(of: life.state), life.since.nanosecondsSince1970, flags, life.attempts,
                Int64(bitPattern: life.fence), Int64(bitPattern: life.beat), life.finishedRuns, life.failedRuns,
                record.windowEnd.nanosecondsSince1970, record.planned.nanosecondsSince1970,
                record.lastRun?.nanosecondsSince1970, record.delay?.length.schedulerNanoseconds,
                record.delay?.begin.nanosecondsSince1970, record.firstTrigger?.nanosecondsSince1970, life.reason,
                life.host.map { StoreCodes.text(ofHost: $0, in: life.process) }, life.cancellation, life.lastError,
                try record.progress.map { try StoreCodes.encode($0) }, life.crashes, life.deferrals, id.rawValue,
            ]
        }
    }

    /// Writes all that may have changed, except for the checkpoint.
    func update(_ rows: StoreRows) throws {
        try rows.execute(
            """
            UPDATE item SET lane = ?, place = ?, level = ?, due = ?, state = ?, since = ?, flags = ?, attempts = ?,
            fence = ?, beat = ?, finished_runs = ?, failed_runs = ?, window_end = ?, planned = ?, last_run = ?,
            delay_length = ?, delay_begin = ?, first_trigger = ?, reason = ?, host = ?, cancellation = ?,
            last_error = ?, progress = ?, crashes = ?, deferrals = ? WHERE id = ?
            """, try values)
    }

    /// Inserts the rows of a new item.
    func insert(_ rows: StoreRows) throws {
        let more: StoreRows.Arguments = [
            record.inserted.nanosecondsSince1970, key?.key, key?.limit, lane,
        ]
        try rows.execute(
            """
            INSERT INTO item (lane, place, level, due, state, since, flags, attempts, fence, beat, finished_runs,
            failed_runs, window_end, planned, last_run, delay_length, delay_begin, first_trigger, reason, host,
            cancellation, last_error, progress, crashes, deferrals, id, inserted, key, key_limit, workload)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            (SELECT workload FROM lane WHERE id = ?))
            """, try values + more)
        try insertRequest(rows)
    }

    /// Writes a request that has taken the place of the item's old one.
    func updateRequest(_ rows: StoreRows) throws {
        try rows.execute("DELETE FROM request WHERE item = ?", [id.rawValue])
        try insertRequest(rows)
        try rows.execute("UPDATE item SET key = ?, key_limit = ? WHERE id = ?", [key?.key, key?.limit, id.rawValue])
    }

    private func insertRequest(_ rows: StoreRows) throws {
        try rows.execute(
            "INSERT INTO request (item, level, parameters, options) VALUES (?, ?, ?, ?)",
            [
                id.rawValue, StoreCodes.code(of: record.request.level), Data(record.request.parameters),
                try Self.options(record.request),
            ])
    }

    /// The text of a request without what has columns of its own; `nil` if all of it is the default.
    private static func options(_ request: WorkloadRequest) throws -> String? {
        var rest = request
        rest.name = ""
        rest.parameters = []
        rest.level = .background
        return rest == WorkloadRequest("") ? nil : try StoreCodes.encode(rest)
    }
}
#endif
