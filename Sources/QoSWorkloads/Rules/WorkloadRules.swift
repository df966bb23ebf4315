package import QoSCore

// The rules of workloads: what an event does to the items of a store (rules O5, O6, O8–O11).
//
// Docs/Inside/Protocols/workloads.md has the protocol. A *child* depends on its *parents*, which end first. Each event of a
// store is a method in the past tense, within one transaction. Time is an argument. Nothing recurses.
//
// The life of an item through this file:
//
//     inserted ──▶ settle ──▶ lane, line of its full key, queue for due times, or none while it has parents
//     clockRead ─▶ settle what became due
//     exchanged ─▶ attemptEnded ──▶ settle for the next attempt or run, or end
//               └▶ claimed ──▶ running, under a new lease
//     end ──▶ pass the unique key, fill the key's place, release the children ──▶ settle or end each child
//     raise ──▶ parents, and the holders of full keys, until nothing changes
//
// Decisions about one item are in `WorkloadLife` (states) and in `WorkloadRecord` (times); refusals of insertions are in
// `InsertionPlan`. `WorkloadRows` has what a store implements.
//
// Invariants, which every event restores:
// - An item in a lane or a line is ready; an item with parents is in no queue, except in the one for due times.
// - No parent has a lower level than its children.
// - While there is a place for a line of a key, its first item is in the lane.
// - A unique key belongs to the last unfinished item that was inserted with it.
//
// A transaction has a budget of steps for items that became due or were released. The next transaction continues. Until
// nothing is left to do, `nextDue` is in the past.

// MARK: Inserting

extension WorkloadRows {
    /// Inserts items: all of them, or none.
    ///
    /// The parents of each new item are raised to its level (rule O5).
    package mutating func inserted(_ requests: [WorkloadRequest], at now: WallTime) throws -> [WorkloadInsertion] {
        // First of all: what is released now must not end an item that the plan counts on.
        try clockRead(now)
        let plan = try InsertionPlan(requests, in: &self)
        var answers: [WorkloadInsertion] = []
        var open: [WorkloadItemID] = []
        for step in plan.steps {
            switch step.kind {
            case .existing(let id, let isPromoted):
                answers.append(.existing(id))
                if isPromoted { try promote(known(id), to: step.request.level) }
            case .updated(let id):
                answers.append(.existing(id))
                try update(known(id), to: step.request, at: now)
            case .new(let replaced):
                if try !insert(step, replacing: replaced, isParent: plan.isParent(step), at: now) {
                    open.append(step.id)
                }
                answers.append(.inserted(step.id))
            }
        }
        // A parent may be a later request.
        for id in open { try settleInserted(id, at: now) }
        return answers
    }

    /// - Returns: whether the item has its place already.
    private mutating func insert(
        _ step: InsertionPlan.Step, replacing replaced: WorkloadItemID?, isParent: Bool, at now: WallTime
    ) throws -> Bool {
        let request = step.request
        rules.lastID = max(rules.lastID, step.id.rawValue)
        let record = WorkloadRecord(inserting: request, as: step.id, at: now)
        var item = ItemRow(record: record, lane: try lane(of: record))
        if let key = request.unique?.key { try setItem(item.id, withKey: key) }
        if step.parents.isEmpty, request.dependencies.isEmpty, replaced == nil, !isParent {
            // Nothing refers to it yet: its rows are written once.
            try settle(&item, at: now, isNew: true)
            return true
        }
        try insert(item)
        for (parent, runsAnyway) in step.parents {
            try depend(item.id, on: parent, cancels: !runsAnyway && request.onFailedParent == .cancel)
        }
        if let replaced {
            try moveChildren(of: replaced, to: item.id)
            if let old = try find(replaced), !old.record.state.isEnded {
                try cancel(old, because: "replaced by \(record.displayName)", at: now)
            }
        }
        return false
    }

    private mutating func settleInserted(_ id: WorkloadItemID, at now: WallTime) throws {
        var item = try known(id)
        let request = item.record.request
        if request.onFailedParent == .cancel {
            for case .item(let parent) in request.dependencies {
                guard let state = try state(of: parent), state == .dead || state == .cancelled else { continue }
                try noteLostParents(of: id, with: parent)
                return try cancel(item, because: known(parent).record.failureReason, at: now)
            }
        }
        try settle(&item, at: now)
        try raise(parents(of: id), to: item.record.level)
        // The children of a replaced item, or earlier requests of the same insertion.
        if let level = try highestLevel(ofChildrenOf: id) { try raise([id], to: level) }
    }

    /// Lets an unfinished item take over a request (``DuplicatePolicy/update``).
    private mutating func update(_ old: ItemRow, to request: WorkloadRequest, at now: WallTime) throws {
        var item = old
        item.record.updated(to: request, at: now)
        item.lane = try lane(of: item.record)
        try updateRequest(of: item)
        if item.record.state == .running {
            try update(item)
            if old.key?.key != item.key?.key {
                // It gives back the place of its old key, and takes one of its new key, full or not.
                try refill(old.key)
                if let new = item.key { try setLastUse(now, ofKey: new.key) }
            }
        } else {
            try settle(&item, because: item.record.hasBegun ? item.record.life.reason : nil, at: now)
            try fillPlace(of: old.key, in: old.lane)
        }
        try promote(known(item.id), to: request.level)
    }

    /// Adds a dependency on an item that has not ended, or that is a later request of the same insertion.
    private mutating func depend(_ child: WorkloadItemID, on parent: WorkloadItemID, cancels: Bool) throws {
        if try state(of: parent)?.isEnded != true { try link(child, to: parent, cancels: cancels) }
    }

    /// Makes a waiting item depend on another one (rule O5).
    package mutating func dependencyAdded(
        of child: WorkloadItemID, on parent: WorkloadItemID, at now: WallTime
    ) throws {
        try clockRead(now)
        guard var item = try find(child) else { throw WorkloadStoreError.unknownItem(child) }
        guard let other = try find(parent) else { throw WorkloadStoreError.unknownItem(parent) }
        guard item.record.state.isWaiting, item.record.life.attempts == 0 else {
            throw WorkloadStoreError.alreadyStarted(child)
        }
        if try waits(parent, for: child) {
            let cycle = try InsertionPlan.cycle(from: [child]) { try parents(of: $0) + ($0 == child ? [parent] : []) }
            let names = try (cycle ?? [child]).map { try displayName(of: $0) ?? "\($0)" }
            throw WorkloadStoreError.cycle(names)
        }
        let cancels = item.record.request.onFailedParent == .cancel
        guard !other.record.state.isEnded else {
            // It ended before: well, or the policy decides at once.
            guard other.record.state != .finished, cancels else { return }
            try noteLostParents(of: child, with: parent)
            return try cancel(item, because: other.record.failureReason, at: now)
        }
        try link(child, to: parent, cancels: cancels)
        try settle(&item, at: now)
        try fillPlace(of: item.key, in: item.lane)
        try raise([parent], to: item.record.level)
    }
}

// MARK: - Waiting

extension WorkloadRows {
    /// Gives a waiting item the queue that fits, writes the item, and raises what stands in its way.
    private mutating func settle(
        _ item: inout ItemRow, because reason: String? = nil, at now: WallTime, isNew: Bool = false
    ) throws {
        let isFull = try place(&item, because: reason, at: now, isNew: isNew)
        if isNew { try insert(item) } else { try update(item) }
        if isFull, let key = item.key { try raise(running(withKey: key.key), to: item.record.level) }
    }

    /// - Returns: whether the item's key is full.
    private mutating func place(
        _ item: inout ItemRow, because reason: String?, at now: WallTime, isNew: Bool
    ) throws -> Bool {
        item.place = .none
        guard item.record.state.isWaiting else { return false }
        let isDue = item.record.due <= now
        // A new item has no rows, and so no parents.
        let hasParents = isDue && !isNew ? try self.hasParents(item.id) : false
        item.record.settle(because: reason, hasParents: hasParents, at: now)
        guard isDue else {
            item.place = .due
            // A host has to wake for it, or to watch its files.
            rules.hasNews = true
            return false
        }
        guard !hasParents else { return false }
        let isFull = try item.key.map { try self.isFull($0) } ?? false
        item.place = isFull ? .parked : .lane
        rules.hasNews = true
        return isFull
    }

    /// Whether running items take all places of a key, by an item's own limit.
    private func isFull(_ key: ConcurrencyKey) throws -> Bool { try runningCount(ofKey: key.key) >= key.limit }

    /// Moves the first parked item of each line into its lane if the key has a free place for it.
    private mutating func refill(_ key: ConcurrencyKey?) throws {
        guard let key else { return }
        let running = try runningCount(ofKey: key.key)
        if try unpark(KeyLines(key: key.key), above: running) { rules.hasNews = true }
        if running == 0 { try setLastUse(nil, ofKey: key.key) }
    }

    /// Lets the next items of a line take the place of one that has left the lane, if the key has a free place for them.
    ///
    /// - Parameters:
    ///   - lane: the lane that the item has left.
    ///   - qosClass: the class of the line; `nil` for those of all classes.
    private mutating func fillPlace(of key: ConcurrencyKey?, in lane: Int64, qosClass: QoSClass? = nil) throws {
        guard let key else { return }
        let running = try runningCount(ofKey: key.key)
        guard running < key.limit else { return }
        let lines = KeyLines(key: key.key, lane: lane, limit: key.limit, qosClass: qosClass)
        _ = try unpark(lines, above: running)
    }

    /// Notes the time of an event. If the clock was set back, delays begin anew, and runs are planned anew.
    private mutating func clockRead(_ now: WallTime) throws {
        try continueReleases(at: now)
        try replan(at: now)
        guard let latest = rules.latest, now < latest else {
            rules.latest = now
            return try settleDue(at: now)
        }
        // Two hosts read the clock at slightly different moments.
        guard now.duration(to: latest) > .seconds(1) else { return try settleDue(at: now) }
        rules.latest = now
        // A second time, the first items are planned again, too.
        rules.replanned = .first
        try replan(at: now)
    }

    /// Moves the items whose time has come, as many as the transaction may.
    private mutating func settleDue(at now: WallTime) throws {
        guard rules.budget > 0 else { return }
        let due = try takeDue(at: now, atMost: rules.budget)
        rules.budget -= due.count
        for id in due {
            var item = try known(id)
            item.record.skipMissedRun(at: now)
            try settle(&item, at: now)
        }
    }

    /// Plans the next items again after the clock was set back, as many as the transaction may.
    ///
    /// An item is due earlier afterwards, so it moves to a place that was passed.
    private mutating func replan(at now: WallTime) throws {
        guard rules.budget > 0, let last = rules.replanned else { return }
        let limit = rules.budget
        let next = try due(behind: last, atMost: limit)
        for place in next {
            var item = try known(WorkloadItemID(rawValue: place.item))
            if item.record.clockSetBack(to: now) { try settle(&item, at: now) }
        }
        rules.budget -= next.count
        rules.replanned = next.count == limit ? next.last : nil
    }

    /// The time at which a host should ask again; `nil` if no item waits for its time. Now, if a step was left to do.
    package mutating func nextDue() throws -> WallTime? {
        if try rules.replanned != nil || nextRelease() != nil { return rules.latest }
        return try firstDue()
    }
}

// MARK: - Exchanging: ends and claims

extension WorkloadRows {
    /// Ends attempts, and then gives a host its next items.
    ///
    /// The standings are those after the ends: an end may raise what runs.
    package mutating func exchanged(_ exchange: HostExchange, at now: WallTime) throws -> HostExchange.Answer {
        var answer = HostExchange.Answer(mark: rules.mark)
        for end in exchange.ends { answer.ends.append(try attemptEnded(end, at: now)) }
        if let request = exchange.claim { answer.claims = try claimed(request, at: now) }
        answer.mark = rules.mark
        if exchange.mark != answer.mark { answer.standings = try standings(of: exchange.leases) }
        answer.nextDue = try nextDue()
        return answer
    }

    /// Gives a host its next items, each with a new lease.
    ///
    /// The highest effective level wins. At that level the workloads take turns. Inside of a workload the earliest due
    /// time wins, then the lowest number. So each item is the one that a claim for it alone would give.
    ///
    /// - Complexity: O(lanes) for each item, and a few questions to the rows for each lane and each item.
    package mutating func claimed(_ request: ClaimRequest, at now: WallTime) throws -> [WorkloadClaim] {
        // The asking host looks anyway. Others need no hint about what begins, but one about what ends or is raised.
        let hadNews = rules.hasNews
        defer { rules.hasNews = hadNews }
        try clockRead(now)
        let lanes = self.lanes.filter { request.covers($0.name, version: $0.version) }
        let closed = try judgeGates(of: lanes, request, at: now)
        let held = try holds()
        let open = lanes.filter { !closed.contains($0.gate) && held[$0.name] == nil }
        var windows = open.map { LaneWindow(lane: $0) }
        var places = request.places.filter { $0.value > 0 }
        var classes = Set(places.keys)
        var turns = FlowTurns()
        var claims: [WorkloadClaim] = []
        while claims.count < request.limit, !places.isEmpty {
            // What the lanes give if each gives as many.
            let wanted = min(places.values.reduce(0) { $0 + min($1, 64) }, request.limit - claims.count, 64)
            let count = (wanted - 1) / max(windows.count, 1) + 1
            var best: (index: Int, front: ReadyItem, turn: Int64)?
            for index in windows.indices {
                guard let front = try front(of: &windows[index], classes, atMost: count) else { continue }
                let flow = WorkloadFlow(qosClass: front.level.qosClass, workload: windows[index].lane.workload)
                let turn = try turn(of: flow, &turns)
                if let best {
                    let other = best.front
                    let isBetter =
                        (other.level, turn, front.due, front.id) < (front.level, best.turn, other.due, other.id)
                    guard isBetter else { continue }
                }
                best = (index, front, turn)
            }
            guard let (index, front, turn) = best else { break }
            let qosClass = front.level.qosClass
            turns.set(turn + 1, of: .init(qosClass: qosClass, workload: windows[index].lane.workload))
            turns.set(turn, of: .init(qosClass: qosClass, workload: 0))
            let claim = try claim(front.id, request, at: now)
            claims.append(claim)
            windows[index].fronts.removeFirst()
            let claimedClass = claim.record.level.qosClass
            let left = (places[claimedClass] ?? 1) - 1
            places[claimedClass] = left > 0 ? left : nil
            if left <= 0 { classes.remove(claimedClass) }
            // The next item of a line may have come, and without its class no item of it may.
            if front.key != nil || left <= 0 { windows = open.map { LaneWindow(lane: $0) } }
        }
        for (flow, turn) in turns.known where turn.isChanged { try setTurns(turn.number, of: flow) }
        return claims
    }

    private mutating func claim(
        _ id: WorkloadItemID, _ request: ClaimRequest, at now: WallTime
    ) throws -> WorkloadClaim {
        guard var item = try find(id, isWhole: true),
            let fence = item.record.life.claimed(by: request.host, in: request.process, at: now)
        else { throw damage("item \(id) in a lane is not ready") }
        item.place = .none
        item.record.attemptBegan(at: now)
        try update(item)
        if let key = item.key {
            try setLastUse(now, ofKey: key.key)
            try fillPlace(of: key, in: item.lane, qosClass: item.record.level.qosClass)
        }
        return WorkloadClaim(lease: WorkloadLease(item: id, fence: fence), record: item.record)
    }

    /// Returns the first item of a lane in the highest of some classes. On the way it parks items whose keys are full.
    private mutating func front(
        of window: inout LaneWindow, _ classes: Set<QoSClass>, atMost count: Int
    ) throws -> ReadyItem? {
        while true {
            if window.fronts.isEmpty {
                guard window.hasMore else { return nil }
                let found = try fronts(ofLane: window.lane.id, in: classes, atMost: count)
                (window.fronts, window.hasMore) = (found.fronts[...], found.hasMore)
            }
            guard let front = window.fronts.first else { return nil }
            guard let key = front.key, try isFull(key) else { return front }
            try move(front.id, to: .parked)
            window.fronts.removeFirst()
        }
    }

    /// The turn of a flow. One that was idle has no claim to the turns that it did not take: its turn is at least that of
    /// the last claim.
    private func turn(of flow: WorkloadFlow, _ turns: inout FlowTurns) throws -> Int64 {
        func known(_ flow: WorkloadFlow) throws -> Int64 {
            if let turn = turns.known[flow] { return turn.number }
            let turn = try self.turns(of: flow)
            turns.known[flow] = (turn, isChanged: false)
            return turn
        }
        return try max(known(flow), known(WorkloadFlow(qosClass: flow.qosClass, workload: 0)))
    }

    /// Asks the host about the conditions of items that it could run.
    ///
    /// - Returns: the closed gates.
    private mutating func judgeGates(
        of lanes: [WorkloadLane], _ request: ClaimRequest, at now: WallTime
    ) throws -> Set<Int64> {
        guard lanes.contains(where: { $0.gate != 0 }) else { return [] }
        let gates = Dictionary(grouping: lanes.lazy.filter { $0.gate != 0 }, by: \.gate)
        var closed = try closedGates()
        for (gate, lanes) in gates.sorted(by: { $0.key < $1.key }) {
            let isNeeded = try lanes.contains { lane in
                try !fronts(ofLane: lane.id, in: Set(QoSClass.allCases), atMost: 1).fronts.isEmpty
            }
            guard isNeeded else { continue }
            let reasons = (lanes.first?.conditions ?? []).compactMap { condition -> String? in
                if case .unmet(let reason) = request.verdict(condition) { reason } else { nil }
            }
            let reason = reasons.isEmpty ? nil : reasons.sorted().joined(separator: "; ")
            guard reason != closed[gate]?.reason else { continue }
            let hold = reason.map { WorkloadHold(reason: $0, since: closed[gate]?.since ?? now) }
            try setHold(hold, ofGate: gate)
            closed[gate] = hold
        }
        return Set(closed.keys)
    }
}

/// The first items of a lane, as far as they were read.
private struct LaneWindow {
    let lane: WorkloadLane
    /// Behind the first one that is left, in order.
    var fronts: ArraySlice<ReadyItem> = []
    /// Whether the lane may have more of them.
    var hasMore = true
}

/// The turns of the flows that a claim looks at. They are written once for all of its items.
private struct FlowTurns {
    var known: [WorkloadFlow: (number: Int64, isChanged: Bool)] = [:]

    mutating func set(_ turn: Int64, of flow: WorkloadFlow) {
        if known[flow]?.number != turn { known[flow] = (turn, isChanged: true) }
    }
}

// MARK: - Attempts

extension WorkloadRows {
    /// Renews leases.
    package mutating func renewed(_ leases: [WorkloadLease]) throws -> [LeaseStanding] {
        try renew(leases)
        let standings = try standings(of: leases)
        return leases.map { standings[$0] ?? .lost }
    }

    /// Keeps a checkpoint and a progress; `nil` leaves the old one.
    package mutating func saved(
        _ checkpoint: [UInt8]?, _ progress: WorkloadProgress?, under lease: WorkloadLease
    ) throws {
        var item = try held(lease)
        let old = (life: item.record.life, hasCheckpoint: item.hasCheckpoint)
        if let checkpoint, try keep(checkpoint, of: &item) { item.record.life.progressed() }
        if let progress { item.record.progress = progress }
        guard progress != nil || old != (item.record.life, item.hasCheckpoint) else { return }
        try update(item)
    }

    /// Keeps a remark about an attempt.
    package mutating func noted(_ remark: String, under lease: WorkloadLease) throws {
        var item = try held(lease)
        _ = item.record.life.noted(remark, under: lease.fence)
        try update(item)
    }

    private mutating func held(_ lease: WorkloadLease) throws -> ItemRow {
        guard let item = try find(lease.item), item.record.life.isHeld(under: lease.fence) else {
            throw WorkloadStoreError.leaseLost(lease)
        }
        return item
    }

    /// Ends an attempt.
    ///
    /// - Returns: the state of the item; `nil` if the lease is not valid.
    package mutating func attemptEnded(_ end: AttemptEnd, at now: WallTime) throws -> WorkloadState? {
        let lease = end.lease
        guard var item = try find(lease.item), item.record.life.isHeld(under: lease.fence) else { return nil }
        let before = changes
        try clockRead(now)
        // A due item may have raised the holders of its key.
        if changes != before { item = try known(lease.item) }
        if let progress = end.progress { item.record.progress = progress }
        let entry = item.record.life.history(of: end.result, at: now)
        try endAttempt(of: &item, entry, at: now) { life, request, seed in
            life.attemptEnded(
                under: lease.fence, end.result, retry: request.retry, repeats: request.schedule.repeats, seed: seed,
                at: now)
        }
        guard item.record.state == .ready else { return item.record.state }
        return try hold(of: item) == nil ? .ready : .deferred
    }

    /// Ends the attempt of a host that has lost its lease, unless it was renewed since the sighting.
    ///
    /// - Returns: whether it was ended.
    package mutating func leaseLost(
        _ sighting: LeaseSighting, because loss: LeaseLoss, at now: WallTime
    ) throws -> Bool {
        let lease = sighting.lease
        guard let found = try find(lease.item), found.record.life.isHeld(under: lease.fence),
            found.record.life.beat == sighting.beat
        else { return false }
        requestsChanged()
        try clockRead(now)
        var item = try known(lease.item)
        let entry = item.record.life.history(of: loss, at: now)
        try endAttempt(of: &item, entry, at: now) { life, request, seed in
            life.leaseLost(
                under: lease.fence, beat: sighting.beat, because: loss, retry: request.retry,
                repeats: request.schedule.repeats, seed: seed, at: now)
        }
        return true
    }

    private mutating func endAttempt(
        of item: inout ItemRow, _ entry: WorkloadAttempt?, at now: WallTime,
        _ end: (inout WorkloadLife, WorkloadRequest, _ seed: UInt64) -> WorkloadLife.Ending?
    ) throws {
        if let entry { try keep(entry, of: item.id) }
        let (request, seed) = (item.record.request, UInt64(bitPattern: item.id.rawValue))
        if let ending = end(&item.record.life, request, seed) { try settle(&item, after: ending, at: now) }
    }

    /// Gives an item the place that follows from the end of its attempt.
    private mutating func settle(
        _ item: inout ItemRow, after ending: WorkloadLife.Ending, at now: WallTime
    ) throws {
        rules.hasNews = true
        if item.key != nil {
            // The key's place is free once the row says so.
            try update(item)
            try refill(item.key)
        }
        switch ending {
        case .waits(let delay):
            if let delay { item.record.delayed(by: delay, at: now) }
            try settle(&item, because: item.record.life.reason, at: now)
        case .runFinished(let repeats):
            try keep(nil, of: &item)
            try runEnded(&item, failed: false, repeats: repeats, at: now)
        case .runFailed(let repeats): try runEnded(&item, failed: true, repeats: repeats, at: now)
        case .cancelled: try end(item, at: now)
        }
    }

    private mutating func runEnded(_ item: inout ItemRow, failed: Bool, repeats: Bool, at now: WallTime) throws {
        let ignoredConditions = item.record.ignoresConditions
        item.record.runEnded()
        if ignoredConditions { item.lane = try lane(of: item.record) }
        // A run that finishes after the cancellation is the last one. Those that wait for it hear that it has finished.
        if repeats || item.record.state == .cancelled {
            try update(item)
            // A repeating item gets new children, so all of these are released now.
            try afterEnds(of: releaseChildren(of: item, failed: failed, atMost: .max, at: now).cancelled, at: now)
        }
        guard repeats else { return try end(item, at: now) }
        // A child of higher level does not hold the next run up there.
        item.record.planNextRun(at: now)
        try settle(&item, because: failed ? item.record.life.reason : nil, at: now)
    }
}

// MARK: - Ending and reviving

extension WorkloadRows {
    /// Ends an item whose life has ended, and cancels the children whose policies say so, and theirs.
    private mutating func end(_ item: ItemRow, at now: WallTime) throws {
        var item = item
        item.place = .none
        try update(item)
        try afterEnds(of: [item], at: now)
    }

    /// Does what follows from the ends of items, whose rows say already that they have ended.
    private mutating func afterEnds(of ended: [ItemRow], at now: WallTime) throws {
        var open = ended
        while let item = open.popLast() {
            rules.hasRequests = true
            if let key = item.record.request.unique?.key { try passUniqueKey(key, of: item.id) }
            try refill(item.key)
            if item.mayHaveParents { try unlink(item.id, from: nil) }
            guard item.mayHaveChildren else { continue }
            let isFailed = item.record.state != .finished
            let released = try releaseChildren(of: item, failed: isFailed, atMost: max(rules.budget, 1), at: now)
            open += released.cancelled
            if released.hasMore { try setRelease(of: item.id, behind: .first) }
        }
    }

    /// Takes a dependency away from children of an item.
    ///
    /// - Returns: the children that are cancelled because of it, whose ends must follow; and whether there are more.
    private mutating func releaseChildren(
        of parent: ItemRow, failed: Bool, atMost limit: Int, at now: WallTime
    ) throws -> (cancelled: [ItemRow], hasMore: Bool) {
        var cancelled: [ItemRow] = []
        let children = try children(of: parent.id, atMost: limit)
        for (child, cancels) in children {
            try unlink(child, from: parent.id)
            rules.budget -= 1
            let isCancelled = failed && cancels
            if isCancelled, parent.record.state.isEnded { try noteLostParents(of: child, with: parent.id) }
            guard try isCancelled || !hasParents(child) else { continue }
            var item = try known(child)
            if isCancelled {
                guard item.record.life.cancelled(because: parent.record.failureReason, at: now) == .ended else {
                    continue
                }
                item.place = .none
                try update(item)
                cancelled.append(item)
            } else if item.place == .none, item.record.state.isWaiting {
                try settle(&item, at: now)
            }
        }
        return (cancelled, children.count == limit)
    }

    /// Continues with the children of items that ended or were revived in earlier transactions.
    private mutating func continueReleases(at now: WallTime) throws {
        while rules.budget > 0, let (parent, behind) = try nextRelease() {
            let item = try known(parent)
            let hasMore: Bool
            if item.record.state.isEnded {
                let isFailed = item.record.state != .finished
                let released = try releaseChildren(of: item, failed: isFailed, atMost: rules.budget, at: now)
                try afterEnds(of: released.cancelled, at: now)
                hasMore = released.hasMore
            } else {
                hasMore = try reviveChildren(of: parent, behind: behind, at: now)
            }
            if !hasMore { try setRelease(of: parent, behind: nil) }
        }
    }

    /// Gives the unique key of an ended item to the one with this key that it has waited for. Those that wait for the
    /// ended one wait for that one from now on. So two items with the key never run beside one another.
    private mutating func passUniqueKey(_ key: String, of id: WorkloadItemID) throws {
        let before = try InsertionPlan.predecessors(of: id, withKey: key, in: &self)
        if !before.isEmpty {
            for (child, _) in try children(of: id, atMost: .max) {
                guard try find(child)?.record.request.unique?.key == key else { continue }
                for parent in before { try depend(child, on: parent, cancels: false) }
            }
        }
        try pass(key: key, from: id, to: before.last)
    }

    /// Lets the items that were cancelled because of a revived one be revived, now and in later transactions.
    private mutating func beginRevival(of id: WorkloadItemID) throws {
        // Children that were not released yet wait for it as before.
        let hasLostChildren = try !lostChildren(of: id, behind: .first, atMost: 1).isEmpty
        try setRelease(of: id, behind: hasLostChildren ? .first : nil)
    }

    /// Revives items that were cancelled because of a revived one: each one that no other lost parent holds back, and
    /// whose unique key is free.
    ///
    /// - Returns: whether there are more.
    private mutating func reviveChildren(
        of parent: WorkloadItemID, behind: WorkloadItemID, at now: WallTime
    ) throws -> Bool {
        let limit = rules.budget
        let children = try lostChildren(of: parent, behind: behind, atMost: limit)
        for id in children {
            rules.budget -= 1
            guard var child = try find(id), child.record.state == .cancelled else { continue }
            let parents = try lostParents(of: id)
            let isHeldBack = parents.contains { $0.state == .dead || $0.state == .cancelled }
            let key = child.record.request.unique?.key
            let isKeyFree = try key.map { try item(withKey: $0) == nil } ?? true
            guard !isHeldBack, isKeyFree, child.record.life.revivedWithParent(at: now) else { continue }
            try forgetLostParents(of: id)
            if let key { try setItem(id, withKey: key) }
            for parent in parents { try depend(id, on: parent.id, cancels: true) }
            try settle(&child, at: now)
            try raise(self.parents(of: id), to: child.record.level)
            try beginRevival(of: id)
        }
        guard children.count == limit, let last = children.last else { return false }
        try setRelease(of: parent, behind: last)
        return true
    }
}

extension WorkloadItemID {
    /// A number below those of all items.
    fileprivate static let first = WorkloadItemID(rawValue: 0)
}

// MARK: - Promotion

extension WorkloadRows {
    /// Raises an item to a level (rule O6), its children, and the parents of all of these (rule O5).
    package mutating func raised(_ id: WorkloadItemID, to level: QoSLevel) throws {
        try promote(unfinished(id), to: level)
    }

    private mutating func promote(_ item: ItemRow, to level: QoSLevel) throws {
        guard item.record.level < level else { return }
        try raise(children(of: item.id, atMost: .max).map(\.child) + [item.id], to: level)
    }

    /// Raises an item, and its parents, to the level of a waiter (rule O9).
    package mutating func awaited(_ id: WorkloadItemID, at level: QoSLevel) throws {
        if try unfinished(id).record.level < level { try raise([id], to: level) }
    }

    /// Raises items with a relative priority that have been due for long to the level of their class, so that a steady
    /// stream of others does not pass them by for ever. As many as one transaction may.
    package mutating func overdueRaised(dueBefore time: WallTime) throws {
        for (id, level) in try overdue(dueBefore: time, atMost: rules.stepLimit).sorted(by: { $0.id < $1.id }) {
            try raise([id], to: QoSLevel(level.qosClass))
        }
    }

    /// Raises items, their parents, and the holders of full keys in front of them, until nothing changes.
    private mutating func raise(_ ids: [WorkloadItemID], to level: QoSLevel) throws {
        var ids = ids
        while !ids.isEmpty {
            let reach = try raiseReach(ids, to: level)
            if reach.hasRunning { requestsChanged() }
            ids = []
            for item in reach.keyed {
                guard let key = item.key else { continue }
                let holders = try running(withKey: key.key)
                let isFull = holders.count >= key.limit
                // It has left its class, and the next one there takes its place.
                if !isFull, item.place == .lane { try fillPlace(of: key, in: item.lane) }
                let place = isFull ? ItemRow.Place.parked : .lane
                if place != item.place { try move(item.id, to: place) }
                if isFull { ids += holders }
            }
        }
    }
}

// MARK: - Control

extension WorkloadRows {
    /// Cancels an item: a waiting one at once, a running one when its attempt ends. A repeating item has no further
    /// runs.
    package mutating func cancelled(_ id: WorkloadItemID, because reason: String, at now: WallTime) throws {
        try clockRead(now)
        try cancel(unfinished(id), because: reason, at: now)
    }

    private mutating func cancel(_ item: ItemRow, because reason: String, at now: WallTime) throws {
        var item = item
        switch item.record.life.cancelled(because: reason, at: now) {
        case .ended: try end(item, at: now)
        case .requested:
            try update(item)
            requestsChanged()
        case .tooLate: break
        }
    }

    /// Pauses a workload, or resumes it with `nil`. Running items are asked to defer.
    package mutating func paused(_ name: WorkloadName, because reason: String?, at now: WallTime) throws {
        let since = try holds()[name]?.since ?? now
        try setHold(reason.map { WorkloadHold(reason: $0, since: since) }, of: name)
        requestsChanged()
    }

    /// Makes an item due now, whatever its schedule and its conditions say. A dead item gets its attempts back, and the
    /// items that were cancelled because of it wait for it again.
    ///
    /// Dependencies, limits and pauses stay.
    package mutating func runRequested(_ id: WorkloadItemID, at now: WallTime) throws {
        try clockRead(now)
        guard var item = try find(id) else { throw WorkloadStoreError.unknownItem(id) }
        let state = item.record.state
        if state == .dead, let key = item.record.request.unique?.key {
            if let holder = try self.item(withKey: key) { throw WorkloadStoreError.keyTaken(key, by: holder) }
            try setItem(id, withKey: key)
        }
        let isRevived = item.record.life.revived(at: now)
        guard isRevived || !state.isEnded else { throw WorkloadStoreError.alreadyEnded(id, state) }
        guard item.record.state.isWaiting else { return }
        let oldLane = item.lane
        item.record.runRequested(at: now)
        item.lane = try lane(of: item.record)
        try settle(&item, at: now)
        try fillPlace(of: item.key, in: oldLane)
        guard isRevived else { return }
        try beginRevival(of: id)
        try continueReleases(at: now)
    }

    /// Notes a file event for an item that waits for one.
    package mutating func fileChanged(for id: WorkloadItemID, at now: WallTime) throws {
        try clockRead(now)
        var item = try unfinished(id)
        let old = item.record
        if item.record.fileChanged(at: now) {
            try settle(&item, at: now)
        } else if item.record != old {
            // A running item notes the first event. Without a write, the commit of the others need not wait for the disk.
            try update(item)
        }
    }

    /// Removes the items that ended in some states before a time, as many as one transaction may.
    ///
    /// - Returns: their number, and whether there are more.
    package mutating func endedRemoved(
        before time: WallTime, in states: Set<WorkloadState>
    ) throws -> (count: Int, hasMore: Bool) {
        let limit = rules.stepLimit
        let count = try removeEnded(before: time, in: states, atMost: limit)
        return (count, count == limit)
    }

    /// Notes a request to the holder of a lease, or the loss of one.
    private mutating func requestsChanged() {
        rules.mark = .fresh()
        rules.hasRequests = true
    }

    // MARK: Items

    /// Returns the number of an item's lane, which is made if there is none.
    private mutating func lane(of record: WorkloadRecord) throws -> Int64 {
        if let known = lanes.first(where: { $0.takes(record) }) { return known.id }
        return try makeLane(of: record).id
    }

    mutating func find(_ id: WorkloadItemID) throws -> ItemRow? { try find(id, isWhole: false) }

    /// Returns an item that must be there: another row names it.
    private mutating func known(_ id: WorkloadItemID) throws -> ItemRow {
        guard let item = try find(id) else { throw damage("no item \(id)") }
        return item
    }

    /// Returns an item that has not ended.
    private mutating func unfinished(_ id: WorkloadItemID) throws -> ItemRow {
        guard let item = try find(id) else { throw WorkloadStoreError.unknownItem(id) }
        guard !item.record.state.isEnded else { throw WorkloadStoreError.alreadyEnded(id, item.record.state) }
        return item
    }
}

// MARK: - Looking at items

extension WorkloadReading {
    /// Returns the record of an item with its state as it is now: a pause, a full key or a closed gate defers a ready
    /// item, and the reason of a blocked one names its parents.
    package func record(of item: ItemRow) throws -> WorkloadRecord {
        var record = item.record
        record.waitsFor = try parents(of: item.id)
        switch record.state {
        case .ready:
            if let hold = try hold(of: item) {
                record.life = record.life.deferred(because: hold.reason, since: hold.since)
            }
        case .blocked:
            if let first = record.waitsFor.first {
                let reason = WorkloadRecord.reason(
                    waitingFor: try displayName(of: first) ?? "\(first)", others: record.waitsFor.count - 1)
                record.life.waitChanged(to: .parents(reason), at: record.life.since)
            }
        default: break
        }
        return record
    }

    /// Returns why an item that is ready by itself has to wait; `nil` if it need not.
    package func hold(of item: ItemRow) throws -> WorkloadHold? {
        if let pause = try holds()[item.record.request.name] { return pause }
        if let key = item.key {
            let running = try runningCount(ofKey: key.key)
            if running >= key.limit {
                return WorkloadHold(
                    reason: WorkloadRecord.reason(running: running, of: key),
                    since: try lastUse(ofKey: key.key) ?? WallTime(nanosecondsSince1970: 0))
            }
        }
        return try hold(ofLane: item.lane)
    }
}
