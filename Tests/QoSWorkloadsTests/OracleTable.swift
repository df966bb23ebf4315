import QoSCore

@testable import QoSWorkloads

/// The table's rules again, naively: every answer is worked out from plain lists, and every level by repeating until
/// nothing changes.
struct OracleTable {
    struct Item {
        var id: WorkloadItemID
        var request: WorkloadRequest
        var level: QoSLevel
        var due: WallTime
        var parents: [(id: WorkloadItemID, runsAnyway: Bool)] = []
        var attempts = 0
        var fence: UInt64 = 0
        /// running, finished, cancelled, dead; `nil` while it waits.
        var fixed: WorkloadState?
        var isCancelRequested = false
        /// The parents that it waited for when it was cancelled because of one of them.
        var lostParents: [WorkloadItemID] = []
    }

    var items: [Item] = []
    var paused: Set<WorkloadName> = []
    var unmet: Set<String> = []
    var now = WallTime(secondsSince1970: 0)
    var turns: [String: Int] = [:]
    var lastTurn: [QoSClass: Int] = [:]

    subscript(id: WorkloadItemID) -> Item {
        get { items.first { $0.id == id }! }
        set { items[items.firstIndex { $0.id == id }!] = newValue }
    }

    func running(key: String) -> [Item] {
        items.filter { $0.fixed == .running && $0.request.concurrency?.key == key }
    }

    func isKeyFull(_ item: Item) -> Bool {
        guard let key = item.request.concurrency else { return false }
        return running(key: key.key).count >= key.limit
    }

    func isGateClosed(_ item: Item) -> Bool {
        item.request.conditions.contains { if case .named(let name) = $0 { unmet.contains(name) } else { false } }
    }

    /// Whether the item waits for a host, a place, its conditions or a resumption, and for nothing else.
    func isRunnable(_ item: Item) -> Bool { item.fixed == nil && item.due <= now && item.parents.isEmpty }

    func state(of item: Item) -> WorkloadState {
        if let fixed = item.fixed { return fixed }
        if item.due > now { return .scheduled }
        if !item.parents.isEmpty { return .blocked }
        if paused.contains(item.request.name) || isKeyFull(item) || isGateClosed(item) { return .deferred }
        return .ready
    }

    // MARK: Levels

    /// Raises parents to their children, and holders of full keys to a raised item in front of them, until nothing
    /// changes.
    mutating func raise(_ ids: [WorkloadItemID], to level: QoSLevel) {
        var risen: Set<WorkloadItemID> = []
        for id in ids where self[id].level < level && !(self[id].fixed?.isEnded ?? false) {
            self[id].level = level
            risen.insert(id)
        }
        while true {
            var next: Set<WorkloadItemID> = []
            for id in risen {
                next.formUnion(self[id].parents.map(\.id))
                if isRunnable(self[id]), isKeyFull(self[id]), let key = self[id].request.concurrency?.key {
                    next.formUnion(running(key: key).map(\.id))
                }
            }
            next = next.filter { self[$0].level < level && !(self[$0].fixed?.isEnded ?? false) }
            if next.isEmpty { return }
            for id in next { self[id].level = level }
            risen = next
        }
    }

    /// Raises the holders of a key that an item has just begun to wait for.
    mutating func waitsForKey(_ id: WorkloadItemID) {
        guard isRunnable(self[id]), isKeyFull(self[id]), let key = self[id].request.concurrency?.key else { return }
        raise(running(key: key).map(\.id), to: self[id].level)
    }

    // MARK: Events

    mutating func insert(_ id: WorkloadItemID, _ request: WorkloadRequest) {
        var item = Item(id: id, request: request, level: request.level, due: now)
        if case .after(let delay) = request.schedule { item.due = now.advanced(by: delay) }
        var failed = false
        for case .item(let parent) in request.dependencies {
            switch self[parent].fixed {
            case .finished: break
            case .dead, .cancelled:
                if !failed, request.onFailedParent == .cancel { item.lostParents = [parent] }
                failed = failed || request.onFailedParent == .cancel
            default: item.parents.append((parent, false))
            }
        }
        if failed { item.lostParents += item.parents.map(\.id) }
        items.append(item)
        if failed {
            finish(id, as: .cancelled)
            return
        }
        waitsForKey(id)
        raise(item.parents.map(\.id), to: request.level)
    }

    /// Notes that the time is another one. Items that become due may wait for a full key.
    mutating func passed(to time: WallTime) {
        let before = now
        let due = items.filter { $0.fixed == nil && $0.due > before && $0.due <= time }
        now = time
        for item in due.sorted(by: { ($0.due, $0.id) < ($1.due, $1.id) }) { waitsForKey(item.id) }
    }

    func next(_ names: Set<WorkloadName>, _ classes: Set<QoSClass>) -> Item? {
        items.filter {
            state(of: $0) == .ready && names.contains($0.request.name) && classes.contains($0.level.qosClass)
        }.min { left, right in
            if left.level != right.level { return left.level > right.level }
            return (turn(left), left.due, left.id) < (turn(right), right.due, right.id)
        }
    }

    func turn(_ item: Item) -> Int {
        max(turns["\(item.request.name) \(item.level.qosClass)"] ?? 0, lastTurn[item.level.qosClass] ?? 0)
    }

    mutating func claim(_ id: WorkloadItemID) {
        let item = self[id]
        let turn = turn(item)
        turns["\(item.request.name) \(item.level.qosClass)"] = turn + 1
        lastTurn[item.level.qosClass] = turn
        self[id].fixed = .running
        self[id].attempts += 1
        self[id].fence += 1
    }

    mutating func end(_ id: WorkloadItemID, _ result: AttemptResult) {
        let item = self[id]
        self[id].fixed = nil
        switch result {
        case .finished: finish(id, as: .finished)
        case .deferred(_, let delay):
            if item.isCancelRequested { return finish(id, as: .cancelled) }
            self[id].attempts -= 1
            if let delay { self[id].due = now.advanced(by: delay) }
            waitsForKey(id)
        case .failed(_, let delay):
            if item.isCancelRequested { return finish(id, as: .cancelled) }
            if item.attempts >= item.request.retry.maximumAttempts { return finish(id, as: .dead) }
            let seed = UInt64(bitPattern: id.rawValue)
            let wait = delay ?? item.request.retry.delay(afterAttempt: item.attempts, seed: seed)
            self[id].due = now.advanced(by: wait)
            waitsForKey(id)
        }
    }

    /// Ends an item, then its children that are cancelled by it, then those that wait for a key now.
    mutating func finish(_ id: WorkloadItemID, as state: WorkloadState) {
        var open = [(id, state)]
        while let (id, state) = open.popLast() {
            self[id].fixed = state
            self[id].parents = []
            for child in items where child.parents.contains(where: { $0.id == id }) {
                let runsAnyway = child.parents.contains { $0.id == id && $0.runsAnyway }
                self[child.id].parents.removeAll { $0.id == id }
                if state != .finished, !runsAnyway, child.request.onFailedParent == .cancel {
                    self[child.id].lostParents = child.parents.map(\.id)
                    self[child.id].parents = []
                    self[child.id].fixed = .cancelled
                    open.append((child.id, .cancelled))
                } else if self[child.id].parents.isEmpty {
                    waitsForKey(child.id)
                }
            }
        }
    }

    mutating func cancel(_ id: WorkloadItemID) {
        if self[id].fixed == .running { self[id].isCancelRequested = true } else { finish(id, as: .cancelled) }
    }

    mutating func runNow(_ id: WorkloadItemID) {
        let isRevived = self[id].fixed == .dead
        if isRevived {
            self[id].fixed = nil
            self[id].attempts = 0
        }
        guard self[id].fixed == nil else { return }
        self[id].due = min(self[id].due, now)
        self[id].request.conditions = []
        waitsForKey(id)
        if isRevived { reviveChildren(of: id) }
    }

    /// Revives the items that were cancelled because of a revived one, and theirs.
    mutating func reviveChildren(of revived: WorkloadItemID) {
        var open: Set = [revived]
        while let id = open.min() {
            open.remove(id)
            for child in items where child.lostParents.contains(id) && child.fixed == .cancelled {
                let states = child.lostParents.map { self[$0].fixed }
                if states.contains(.dead) || states.contains(.cancelled) { continue }
                self[child.id].fixed = nil
                self[child.id].attempts = 0
                self[child.id].lostParents = []
                self[child.id].parents = child.lostParents.filter { self[$0].fixed != .finished }.map { ($0, false) }
                waitsForKey(child.id)
                raise(self[child.id].parents.map(\.id), to: child.level)
                open.insert(child.id)
            }
        }
    }

    /// Whether the item depends on the other one, directly or through others.
    func depends(_ id: WorkloadItemID, on other: WorkloadItemID) -> Bool {
        id == other || self[id].parents.contains { depends($0.id, on: other) }
    }
}
