internal import QoSCore

extension WorkloadTable {
    /// Inserts items: all of them, or none.
    ///
    /// The parents of each new item are raised to its level (rule O5).
    package mutating func inserted(
        _ requests: [WorkloadRequest], at now: WallTime, _ effects: inout TableEffects
    ) throws(WorkloadStoreError) -> [WorkloadInsertion] {
        let plan = try InsertionPlan(requests, in: self)
        clockRead(now, &effects)
        var answers: [WorkloadInsertion] = []
        for step in plan.steps {
            switch step.kind {
            case .existing(let id, let isPromoted):
                answers.append(.existing(id))
                if isPromoted { try? raised(id, to: step.request.level, &effects) }
            case .updated(let id):
                answers.append(.existing(id))
                update(id, to: step.request, at: now, &effects)
            case .new(let replaced):
                insert(step, replacing: replaced, at: now, &effects)
                answers.append(.inserted(step.id))
            }
        }
        // A parent may be a later request.
        for step in plan.steps where step.isNew { settleInserted(step.id, at: now, &effects) }
        return answers
    }

    private mutating func settleInserted(_ id: WorkloadItemID, at now: WallTime, _ effects: inout TableEffects) {
        let request = self[id].record.request
        if request.onFailedParent == .cancel {
            for case .item(let parent) in request.dependencies {
                let state = self[parent].record.state
                guard state == .dead || state == .cancelled else { continue }
                orphan(id, of: parent)
                if self[id].record.life.cancelled(because: failureReason(of: parent), at: now) == .ended {
                    end([id], at: now, &effects)
                }
                return
            }
        }
        settle(id, at: now, &effects)
        raise(Array(self[id].parents.keys), to: self[id].record.level, &effects)
        if let level = self[id].children.map({ self[$0].record.level }).max() {
            raise(CollectionOfOne(id), to: level, &effects)
        }
    }

    private mutating func insert(
        _ step: InsertionPlan.Step, replacing replaced: WorkloadItemID?, at now: WallTime, _ effects: inout TableEffects
    ) {
        let (id, request) = (step.id, step.request)
        lastID = max(lastID, id.rawValue)
        openGate(of: request)
        if request.schedule.isOnFileEvents { onFileEvents.insert(id) }
        let record = WorkloadRecord(inserting: request, as: id, at: now)
        if items.contains(id) { self[id].record = record } else { items.insert(Entry(record: record), for: id) }
        for (parent, runsAnyway) in step.parents { link(id, to: parent, runsAnyway: runsAnyway) }
        if let key = request.unique?.key { unique[key] = id }
        if let replaced { replace(replaced, by: id, at: now, &effects) }
    }

    private mutating func openGate(of request: WorkloadRequest) {
        guard gateNumbers[request.conditions] == nil else { return }
        gateNumbers[request.conditions] = gates.count
        gates.append(Gate(conditions: request.conditions))
    }

    /// Lets an unfinished item take over a request (``DuplicatePolicy/update``).
    private mutating func update(
        _ id: WorkloadItemID, to request: WorkloadRequest, at now: WallTime, _ effects: inout TableEffects
    ) {
        let old = self[id].record.request
        unqueue(id)
        openGate(of: request)
        if request.schedule.isOnFileEvents { onFileEvents.insert(id) } else { onFileEvents.remove(id) }
        self[id].record.updated(to: request, at: now)
        if self[id].record.state == .running {
            if old.concurrency?.key != request.concurrency?.key {
                changeKey(of: id, from: old.concurrency, at: now, &effects)
            }
        } else {
            let isDelayed = self[id].record.hasBegun
            settle(id, because: isDelayed ? self[id].record.life.reason : nil, at: now, &effects)
        }
        try? raised(id, to: request.level, &effects)
    }

    /// Lets a running item give back the place of its old key, and take one of its new key, full or not.
    private mutating func changeKey(
        of id: WorkloadItemID, from old: ConcurrencyKey?, at now: WallTime, _ effects: inout TableEffects
    ) {
        if let old {
            keys[old.key]?.running.remove(id)
            refill(old, &effects)
        }
        guard let new = self[id].record.request.concurrency else { return }
        keys[new.key, default: KeyUse(since: now)].running.insert(id)
        keys[new.key]?.since = now
    }

    /// Gives the children of an item to its successor, and cancels it.
    private mutating func replace(
        _ old: WorkloadItemID, by new: WorkloadItemID, at now: WallTime, _ effects: inout TableEffects
    ) {
        for child in self[old].children.sorted() where child != new {
            self[old].children.remove(child)
            let runsAnyway = self[child].parents.removeValue(forKey: old) ?? false
            link(child, to: new, runsAnyway: runsAnyway)
        }
        try? cancelled(old, because: "replaced by \(self[new].record.displayName)", at: now, &effects)
    }

    mutating func link(_ child: WorkloadItemID, to parent: WorkloadItemID, runsAnyway: Bool) {
        if !items.contains(parent) {
            // A later request of the same insertion; its record follows.
            items.insert(Entry(record: self[child].record), for: parent)
        }
        guard !self[parent].record.state.isEnded else { return }
        self[child].parents[parent] = runsAnyway
        self[parent].children.insert(child)
    }

    /// Makes a waiting item depend on another one (rule O5).
    package mutating func dependencyAdded(
        of child: WorkloadItemID, on parent: WorkloadItemID, at now: WallTime, _ effects: inout TableEffects
    ) throws(WorkloadStoreError) {
        clockRead(now, &effects)
        guard items.contains(child) else { throw .unknownItem(child) }
        guard items.contains(parent) else { throw .unknownItem(parent) }
        let (record, other) = (self[child].record, self[parent].record)
        guard record.state.isWaiting, record.life.attempts == 0 else { throw .alreadyStarted(child) }
        let cycle = InsertionPlan.cycle(from: [child]) { Array(self[$0].parents.keys) + ($0 == child ? [parent] : []) }
        if let cycle { throw .cycle(cycle.map { self[$0].record.displayName }) }
        guard !other.state.isEnded else {
            // It ended before: well, or the policy decides at once.
            guard other.state != .finished, record.request.onFailedParent == .cancel else { return }
            orphan(child, of: parent)
            try cancelled(child, because: failureReason(of: parent), at: now, &effects)
            return
        }
        link(child, to: parent, runsAnyway: false)
        settle(child, at: now, &effects)
        raise(CollectionOfOne(parent), to: self[child].record.level, &effects)
    }
}
