#if SQLite
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

/// The items of a transaction as a plan of an insertion sees them. A failure of the database is kept for later: the
/// plan itself can only refuse.
private final class PlanSource: InsertionPlan.Source {
    private let transaction: StoreTransaction
    private(set) var failure: (any Error)?

    init(_ transaction: StoreTransaction) {
        self.transaction = transaction
    }

    private func attempt<Value>(_ fallback: Value, _ body: () throws -> Value) -> Value {
        do { return try body() } catch {
            failure = failure ?? error
            return fallback
        }
    }

    var lastID: Int64 { transaction.lastID }

    func contains(_ id: WorkloadItemID) -> Bool {
        attempt(false) { try transaction.rows.has("SELECT 1 FROM item WHERE id = ?", [id.rawValue]) }
    }

    func item(withKey key: String) -> WorkloadItemID? {
        attempt(nil) {
            try transaction.rows.integer("SELECT item FROM unique_key WHERE key = ?", [key])
                .map(WorkloadItemID.init(rawValue:))
        }
    }

    func isRunning(_ id: WorkloadItemID) -> Bool {
        attempt(false) { try transaction.rows.has("SELECT 1 FROM item WHERE id = ? AND state = 4", [id.rawValue]) }
    }

    func displayName(of id: WorkloadItemID) -> String {
        attempt("\(id)") { try transaction.find(id)?.record.displayName ?? "\(id)" }
    }

    func parents(of id: WorkloadItemID) -> [WorkloadItemID] {
        attempt([]) { try transaction.rows.parents(of: id.rawValue).map(WorkloadItemID.init(rawValue:)) }
    }

    func workload(of id: WorkloadItemID) -> WorkloadName {
        attempt("") { try transaction.find(id)?.record.request.name ?? "" }
    }

    func uniqueKey(of id: WorkloadItemID) -> String? {
        attempt(nil) { try transaction.find(id)?.record.request.unique?.key }
    }
}

extension StoreTransaction {
    /// Inserts items: all of them, or none.
    ///
    /// The parents of each new item are raised to its level (rule O5).
    func inserted(_ requests: [WorkloadRequest], at now: WallTime) throws -> [WorkloadInsertion] {
        let source = PlanSource(self)
        let plan = Result { try InsertionPlan(requests, in: source) }
        if let failure = source.failure { throw failure }
        let steps = try plan.get().steps
        try clockRead(now)
        var answers: [WorkloadInsertion] = []
        var open: [WorkloadItemID] = []
        let named = Set(
            requests.flatMap { $0.dependencies.compactMap { if case .label(let label) = $0 { label } else { nil } } })
        for step in steps {
            switch step.kind {
            case .existing(let id, let isPromoted):
                answers.append(.existing(id))
                if isPromoted { try raised(id, to: step.request.level) }
            case .updated(let id):
                answers.append(.existing(id))
                try update(id, to: step.request, at: now)
            case .new(let replaced):
                let isParent = step.request.label.map { named.contains($0) } ?? false
                if try !insert(step, replacing: replaced, isParent: isParent, at: now) { open.append(step.id) }
                answers.append(.inserted(step.id))
            }
        }
        // A parent may be a later request.
        for id in open { try settleInserted(id, at: now) }
        return answers
    }

    /// - Returns: whether the item has its place already.
    private func insert(
        _ step: InsertionPlan.Step, replacing replaced: WorkloadItemID?, isParent: Bool, at now: WallTime
    ) throws -> Bool {
        let request = step.request
        lastID = max(lastID, step.id.rawValue)
        let record = WorkloadRecord(inserting: request, as: step.id, at: now)
        let lane = try lane(of: record)
        var item = StoredItem(record: record, workload: lane.workload, lane: lane.id)
        if let key = request.unique?.key {
            try rows.execute("INSERT OR REPLACE INTO unique_key (key, item) VALUES (?, ?)", [key, item.id])
        }
        if step.parents.isEmpty, request.dependencies.isEmpty, replaced == nil, !isParent {
            // Nothing refers to it yet: its rows are written once.
            try settle(&item, at: now, isNew: true)
            return true
        }
        try item.insert(rows)
        for (parent, runsAnyway) in step.parents {
            try link(item.id, to: parent.rawValue, cancels: !runsAnyway && request.onFailedParent == .cancel)
        }
        if let replaced { try replace(replaced, by: item.record, at: now) }
        return false
    }

    private func settleInserted(_ id: WorkloadItemID, at now: WallTime) throws {
        var item = try item(id.rawValue)
        let request = item.record.request
        if request.onFailedParent == .cancel {
            for case .item(let parent) in request.dependencies {
                guard let record = try find(parent)?.record, record.state == .dead || record.state == .cancelled else {
                    continue
                }
                try orphan(item.id, of: parent.rawValue)
                if item.record.life.cancelled(because: record.failureReason, at: now) == .ended {
                    try end(item, at: now)
                }
                return
            }
        }
        try settle(&item, at: now)
        try raise(rows.parents(of: item.id), to: item.record.level)
        let highest = try rows.integer(
            "SELECT max(level) FROM item WHERE id IN (SELECT child FROM dependency WHERE parent = ?) "
                + "HAVING max(level) IS NOT NULL", [item.id])
        if let highest { try raise([item.id], to: StoreCodes.level(highest)) }
    }

    /// Lets an unfinished item take over a request (`DuplicatePolicy.update`).
    private func update(_ id: WorkloadItemID, to request: WorkloadRequest, at now: WallTime) throws {
        var item = try item(id.rawValue)
        let (oldKey, oldLane) = (item.key, item.lane)
        item.record.updated(to: request, at: now)
        item.lane = try lane(of: item.record).id
        try item.updateRequest(rows)
        if item.record.state == .running {
            try item.update(rows)
            if oldKey?.key != item.key?.key { try changeKey(of: item, from: oldKey, at: now) }
        } else {
            try settle(&item, because: item.record.hasBegun ? item.record.life.reason : nil, at: now)
            try fillPlace(of: oldKey, in: oldLane)
        }
        try raised(id, to: request.level)
    }

    /// Lets a running item give back the place of its old key, and take one of its new key, full or not.
    private func changeKey(of item: StoredItem, from old: ConcurrencyKey?, at now: WallTime) throws {
        try refill(old)
        if let new = item.key { try noteUse(of: new, at: now) }
    }

    /// Gives the children of an item to its successor, and cancels it.
    private func replace(_ old: WorkloadItemID, by new: WorkloadRecord, at now: WallTime) throws {
        try rows.execute(
            "UPDATE OR REPLACE dependency SET parent = ?1 WHERE parent = ?2 AND child <> ?1",
            [new.id.rawValue, old.rawValue])
        guard try rows.has("SELECT 1 FROM item WHERE id = ? AND state < 5", [old.rawValue]) else { return }
        try cancelled(old, because: "replaced by \(new.displayName)", at: now)
    }

    func link(_ child: Int64, to parent: Int64, cancels: Bool) throws {
        // A later request of the same insertion has no row yet.
        guard try !rows.has("SELECT 1 FROM item WHERE id = ? AND state >= 5", [parent]) else { return }
        try rows.execute(
            "INSERT OR REPLACE INTO dependency (child, parent, cancels) VALUES (?, ?, ?)", [child, parent, cancels])
    }

    /// Makes a waiting item depend on another one (rule O5).
    func dependencyAdded(of child: WorkloadItemID, on parent: WorkloadItemID, at now: WallTime) throws {
        try clockRead(now)
        guard var item = try find(child) else { throw WorkloadStoreError.unknownItem(child) }
        guard let other = try find(parent) else { throw WorkloadStoreError.unknownItem(parent) }
        guard item.record.state.isWaiting, item.record.life.attempts == 0 else {
            throw WorkloadStoreError.alreadyStarted(child)
        }
        if let cycle = try cycle(over: child, parent) { throw WorkloadStoreError.cycle(cycle) }
        guard !other.record.state.isEnded else {
            // It ended before: well, or the policy decides at once.
            guard other.record.state != .finished, item.record.request.onFailedParent == .cancel else { return }
            try orphan(item.id, of: parent.rawValue)
            try cancelled(child, because: other.record.failureReason, at: now)
            return
        }
        try link(item.id, to: parent.rawValue, cancels: item.record.request.onFailedParent == .cancel)
        try settle(&item, at: now)
        try fillPlace(of: item.key, in: item.lane)
        try raise([parent.rawValue], to: item.record.level)
    }

    /// Returns the names of the items that would wait for one another.
    private func cycle(over child: WorkloadItemID, _ parent: WorkloadItemID) throws -> [String]? {
        let isReached = try rows.has(
            """
            WITH RECURSIVE reach (id) AS (
                VALUES (?1) UNION
                SELECT dependency.parent FROM reach CROSS JOIN dependency ON dependency.child = reach.id)
            SELECT 1 FROM reach WHERE id = ?2
            """, [parent.rawValue, child.rawValue])
        guard isReached else { return nil }
        let source = PlanSource(self)
        let cycle = InsertionPlan.cycle(from: [child]) { source.parents(of: $0) + ($0 == child ? [parent] : []) }
        let names = cycle.map { $0.map { source.displayName(of: $0) } }
        if let failure = source.failure { throw failure }
        return names
    }
}
#endif
