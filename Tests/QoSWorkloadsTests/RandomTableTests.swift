import QoSCore
import QoSTesting
import Testing

@testable import QoSWorkloads

/// A table and its oracle, which get the same random events.
private struct TablePair {
    enum Event: CaseIterable {
        case insert
        case depend
        case claim
        case renew
        case finish
        case fail
        case postpone
        case expire
        case stale
        case raise
        case await
        case cancel
        case runNow
        case pause
        case condition
        case time
    }

    let seed: UInt64
    /// Whether most items have a key, and little else, so that many of them run and wait at the same time.
    var isCrowded = false
    var random: SeededGenerator
    var table = WorkloadTable()
    var oracle = OracleTable()
    var leases: [WorkloadItemID: WorkloadLease] = [:]
    var old: [WorkloadLease] = []
    var reached: [Event: Int] = [:]
    var cycles = 0
    var raised = 0
    var dead = 0

    static let names: [WorkloadName] = ["a", "b", "c"]
    static let levels: [QoSLevel] = [
        .background, .utility, .userInitiated, QoSLevel(.background, relativePriority: RelativePriority(clamping: -5)),
    ]

    init(seed: UInt64, isCrowded: Bool = false) {
        self.seed = seed
        self.isCrowded = isCrowded
        random = SeededGenerator(seed: seed)
    }

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    mutating func anyItem() -> WorkloadItemID? { oracle.items.randomElement(using: &random)?.id }

    mutating func anyLease() -> WorkloadLease? {
        let sorted = leases.values.sorted { $0.item < $1.item }
        return sorted.randomElement(using: &random)
    }

    mutating func step() throws {
        // Ends need claims, and claims need items.
        let usual: Event = chance(0.6) ? .claim : chance(isCrowded ? 0.5 : 1) ? .insert : .finish
        let frequent: Event? = chance(isCrowded ? 0.85 : 0.35) ? usual : nil
        guard let event = frequent ?? Event.allCases.randomElement(using: &random) else { return }
        let levels = oracle.items.map(\.level)
        if try apply(event) { reached[event, default: 0] += 1 }
        raised += zip(levels, oracle.items).count { $0 < $1.level }
        try compare(event)
    }

    private mutating func apply(_ event: Event) throws -> Bool {
        let now = oracle.now
        switch event {
        case .insert: return try insert()
        case .depend: return try depend()
        case .time:
            oracle.passed(to: now.advanced(by: .seconds(Int.random(in: 1...8, using: &random))))
            // The table learns of the time with the next event; this one changes nothing else.
            _ = try table.claimed(ClaimRequest(host: "none", workloads: []), at: oracle.now)
        case .claim: return try claim()
        case .renew:
            guard let lease = anyLease() else { return false }
            let level = oracle[lease.item].level
            guard case .held(let terms) = try table.renewed([lease]).first else {
                throw Mismatch("seed \(seed): lost \(lease)")
            }
            try require(terms.level == level, "level of \(lease)")
            try require((terms.cancellation != nil) == oracle[lease.item].isCancelRequested, "request to \(lease)")
        case .finish: return try end(.finished)
        case .fail: return try end(.failed(error: "e", delay: chance(0.3) ? .seconds(1) : nil))
        case .postpone: return try end(.deferred(reason: "d", delay: chance(0.5) ? .seconds(3) : nil))
        case .expire:
            guard let lease = anyLease(), let sighting = table.leases.first(where: { $0.lease == lease }) else {
                return false
            }
            let loss = LeaseLoss.allCases.randomElement(using: &random) ?? .expired
            let isLost = try table.leaseLost(sighting, because: loss, at: now)
            try require(isLost, "loss of \(lease)")
            let isAtOnce = loss == .processEnded && oracle[lease.item].attempts == 1
            oracle.end(lease.item, .failed(error: "x", delay: isAtOnce ? .zero : nil))
            ended(lease)
        case .stale:
            guard let lease = old.randomElement(using: &random) else { return false }
            try require(table.renewed([lease]) == [.lost], "stale \(lease)")
            try require((try? table.saved([1], nil, under: lease)) == nil, "stale \(lease)")
            try require(table.attemptEnded(AttemptEnd(lease, .finished), at: now) == nil, "stale \(lease)")
        case .raise:
            guard let id = anyItem(), let level = Self.levels.randomElement(using: &random) else { return false }
            guard (try? table.raised(id, to: level)) != nil else { return false }
            guard oracle[id].level < level else { return false }
            let children = oracle.items.filter { $0.parents.contains { $0.id == id } }.map(\.id)
            oracle.raise(children + [id], to: level)
        case .await:
            guard let id = anyItem(), let level = Self.levels.randomElement(using: &random) else { return false }
            guard (try? table.awaited(id, at: level)) != nil else { return false }
            oracle.raise([id], to: level)
        case .cancel:
            guard chance(0.3), let id = anyItem() else { return false }
            guard (try? table.cancelled(id, because: "stop", at: now)) != nil else { return false }
            oracle.cancel(id)
        case .runNow:
            guard let id = anyItem() else { return false }
            guard (try? table.runRequested(id, at: now)) != nil else { return false }
            oracle.runNow(id)
        case .pause:
            guard let name = Self.names.randomElement(using: &random) else { return false }
            if oracle.paused.remove(name) == nil { oracle.paused.insert(name) }
            try table.paused(name, because: oracle.paused.contains(name) ? "p" : nil, at: now)
        case .condition:
            // Gates are judged by the next claim.
            oracle.unmet = chance(0.5) ? ["x"] : []
            try judge()
        }
        return true
    }

    private func request(_ names: Set<WorkloadName>, _ classes: Set<QoSClass>) -> ClaimRequest {
        let unmet = oracle.unmet
        return ClaimRequest(host: "h", workloads: names, classes: classes) { condition in
            if case .named(let name) = condition, unmet.contains(name) { .unmet(name) } else { .met }
        }
    }

    /// Lets the table ask about its gates without claiming anything.
    private mutating func judge() throws {
        _ = try table.claimed(request(Set(Self.names), []), at: oracle.now)
    }

    private mutating func insert() throws -> Bool {
        var request = WorkloadRequest(
            Self.names.randomElement(using: &random) ?? "a",
            level: Self.levels.randomElement(using: &random) ?? .utility,
            schedule: chance(0.3) ? .after(.seconds(Int.random(in: 1...20, using: &random))) : .now,
            retry: RetryPolicy(maximumAttempts: 2, base: .seconds(2)))
        guard !isCrowded else {
            request.schedule = .now
            return try insert(request)
        }
        let parents = (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in anyItem() }
        request.dependencies = Set(parents).sorted().map { .item($0) }
        if chance(0.3) { request.onFailedParent = .runAnyway }
        if chance(0.3) { request.conditions = [.named("x")] }
        return try insert(request)
    }

    private mutating func insert(_ request: WorkloadRequest) throws -> Bool {
        var request = request
        if chance(isCrowded ? 0.95 : 0.4) {
            let limit = [1, 1, 2, 3, 4].randomElement(using: &random) ?? 1
            request.concurrency = ConcurrencyKey(chance(0.5) ? "k" : "l", limit: limit)
        }
        let answers = try table.inserted([request], at: oracle.now)
        oracle.insert(answers[0].item, request)
        try judge()
        return true
    }

    private mutating func depend() throws -> Bool {
        guard let child = anyItem(), let parent = anyItem() else { return false }
        let item = oracle[child]
        let isPossible = item.fixed == nil && item.attempts == 0
        let closesCycle = oracle.depends(parent, on: child)
        do {
            try table.dependencyAdded(of: child, on: parent, at: oracle.now)
        } catch WorkloadStoreError.cycle(let names) {
            cycles += 1
            try require(isPossible && closesCycle && !names.isEmpty, "cycle of \(child) on \(parent)")
            return true
        } catch {
            try require(!isPossible, "\(error)")
            return false
        }
        try require(isPossible && !closesCycle, "dependency of \(child) on \(parent)")
        switch oracle[parent].fixed {
        case .finished: break
        case .dead, .cancelled:
            if item.request.onFailedParent == .cancel {
                oracle[child].lostParents = [parent] + item.parents.map(\.id)
                oracle.finish(child, as: .cancelled)
            }
        default:
            if !oracle[child].parents.contains(where: { $0.id == parent }) {
                oracle[child].parents.append((parent, false))
            }
            oracle.raise([parent], to: item.level)
        }
        return true
    }

    private mutating func claim() throws -> Bool {
        let names = Set(Self.names.filter { _ in chance(0.8) })
        let classes = Set(QoSClass.allCases.filter { _ in chance(0.8) })
        let expected = oracle.next(names, classes)
        let claim = try table.claimed(request(names, classes), at: oracle.now).first
        try require(
            claim?.record.id == expected?.id,
            "claim: \(String(describing: claim?.record.id)) for \(String(describing: expected?.id))")
        guard let claim else { return false }
        oracle.claim(claim.record.id)
        leases[claim.record.id] = claim.lease
        try require(claim.lease.fence == oracle[claim.record.id].fence, "fence")
        return true
    }

    private mutating func end(_ result: AttemptResult) throws -> Bool {
        guard let lease = anyLease() else { return false }
        let state = try table.attemptEnded(AttemptEnd(lease, result), at: oracle.now)
        try require(state != nil, "end of \(lease)")
        oracle.end(lease.item, result)
        ended(lease)
        return true
    }

    private mutating func ended(_ lease: WorkloadLease) {
        leases[lease.item] = nil
        old.append(lease)
        if oracle[lease.item].fixed == .dead { dead += 1 }
    }

    private mutating func compare(_ event: Event) throws {
        // Gates of lanes that were empty at the last look.
        try judge()
        for item in oracle.items {
            guard let record = try table.record(item.id) else { throw Mismatch("seed \(seed): \(item.id) is missing") }
            let what = "\(item.id) after \(event)"
            try require(
                record.state == oracle.state(of: item), "\(what): \(record.state), not \(oracle.state(of: item))")
            try require(record.level == item.level, "\(what): \(record.level), not \(item.level)")
            try require(record.life.attempts == item.attempts || item.fixed == .finished, "\(what): attempts")
            try require(record.waitsFor == item.parents.map(\.id).sorted(), "\(what): parents")
            for parent in item.parents {
                try require(oracle[parent.id].level >= item.level, "\(what): O5 parents are never lower")
            }
        }
        try require(table.leases.map(\.lease) == leases.values.sorted { $0.item < $1.item }, "leases after \(event)")
        let due = oracle.items.filter { $0.fixed == nil && $0.due > oracle.now }.map(\.due).min()
        try require(table.nextDue() == due, "next due time after \(event)")
    }

    private func require(_ holds: Bool, _ what: @autoclosure () -> String) throws {
        if !holds { throw Mismatch("seed \(seed): \(what())") }
    }
}

private struct Mismatch: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

@Suite("Random tables of items")
struct RandomTableTests {
    @Test("O5 O6 O9 O11 the table agrees with its oracle after every event", arguments: UInt64(0)..<150)
    func agreement(seed: UInt64) throws {
        var pair = TablePair(seed: seed)
        for _ in 0..<150 { try pair.step() }
    }

    @Test("in a crowd, each item of a key goes by its own limit", arguments: UInt64(2000)..<2150)
    func crowds(seed: UInt64) throws {
        var pair = TablePair(seed: seed, isCrowded: true)
        for _ in 0..<200 { try pair.step() }
    }

    @Test("the random tables reach every event")
    func coverage() throws {
        var reached: [TablePair.Event: Int] = [:]
        var (raised, cycles, dead) = (0, 0, 0)
        for seed: UInt64 in 1000..<1030 {
            var pair = TablePair(seed: seed)
            for _ in 0..<300 { try pair.step() }
            reached.merge(pair.reached, uniquingKeysWith: +)
            raised += pair.raised
            cycles += pair.cycles
            dead += pair.dead
        }
        for event in TablePair.Event.allCases { #expect(reached[event, default: 0] > 50, "\(event)") }
        #expect(raised > 200)
        #expect(cycles > 20)
        #expect(dead > 50)
    }
}
