#if SQLite
import QoSCore
import QoSSQLiteStore
import QoSTesting
import Testing

/// A store in memory and one in SQLite that get the same random calls. Their answers and all of their items agree.
private struct StorePair {
    enum Call: CaseIterable {
        case insert
        case insertMany
        case depend
        case claim
        case exchange
        case renew
        case save
        case note
        case finish
        case fail
        case postpone
        case expire
        case stale
        case raise
        case await
        case cancel
        case runNow
        case fileChange
        case pause
        case condition
        case time
        case clockSetBack
        case removeEnded
        case overdue
    }

    let seed: UInt64
    /// Whether most items have a key, and little else, so that many of them run and wait at the same time.
    let isCrowded: Bool
    /// Keeps the folder until the end.
    let place: StorePlace
    let expected = InMemoryWorkloadStore()
    let store: any WorkloadStore
    var random: SeededGenerator
    var now = WallTime(secondsSince1970: 1_800_000_000)
    var items: [WorkloadItemID] = []
    var leases: [WorkloadLease] = []
    var old: [WorkloadLease] = []
    var unmet: Set<String> = []
    var paused: Set<WorkloadName> = []
    var reached: [Call: Int] = [:]

    static let names: [WorkloadName] = ["a", "b", "c"]
    static let levels: [QoSLevel] = [
        .background, .utility, .userInitiated, QoSLevel(.background, relativePriority: RelativePriority(clamping: -5)),
    ]

    init(seed: UInt64, isCrowded: Bool = false, _ place: StorePlace, _ store: any WorkloadStore) {
        self.seed = seed
        self.isCrowded = isCrowded
        self.place = place
        self.store = store
        random = SeededGenerator(seed: seed)
    }

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
    mutating func any<Value>(_ values: [Value]) -> Value? { values.randomElement(using: &random) }
    mutating func seconds(_ range: ClosedRange<Int>) -> Duration { .seconds(Int.random(in: range, using: &random)) }

    /// Makes a call to both stores.
    ///
    /// - Returns: the answer; `nil` if both have refused, for the same reason.
    @discardableResult
    private func both<Answer: Equatable>(
        _ what: String, _ call: (any WorkloadStore) async throws -> Answer
    ) async throws -> Answer? {
        func attempt(_ store: any WorkloadStore) async throws -> Result<Answer, WorkloadStoreError> {
            do { return .success(try await call(store)) } catch let error as WorkloadStoreError {
                return .failure(error)
            }
        }
        let (answer, other) = (try await attempt(store), try await attempt(expected))
        switch (answer, other) {
        case (.failure(.cycle(let names)), .failure(.cycle(let others))):
            // Of several circles each may find another one.
            try require(!names.isEmpty && !others.isEmpty, what)
        default: try require(answer == other, "\(what): \(answer), not \(other)")
        }
        return try? answer.get()
    }

    mutating func step() async throws {
        let usual: Call = chance(0.6) ? .claim : chance(isCrowded ? 0.5 : 1) ? .insert : .finish
        let frequent: Call? = chance(isCrowded ? 0.85 : 0.35) ? usual : nil
        guard let call = frequent ?? any(Call.allCases) else { return }
        if try await apply(call) { reached[call, default: 0] += 1 }
        try await compare(after: call)
    }

    private mutating func apply(_ call: Call) async throws -> Bool {
        let now = self.now
        switch call {
        case .insert:
            let request = request()
            return try await insert([request])
        case .insertMany:
            var requests = (0..<Int.random(in: 2...4, using: &random)).map { _ in request() }
            for index in requests.indices {
                requests[index].label = "l\(index)"
                if chance(0.5) {
                    requests[index].dependencies.append(.label("l\(Int.random(in: 0...4, using: &random))"))
                }
            }
            return try await insert(requests)
        case .depend:
            guard let child = any(items), let parent = any(items) else { return false }
            return try await both("dependency of \(child) on \(parent)") {
                try await $0.addDependency(of: child, on: parent, at: now)
                return true
            } ?? false
        case .claim: return try await claim()
        case .exchange: return try await exchange()
        case .renew:
            let some = leases.filter { _ in chance(0.5) }
            try await both("renewal") { try await $0.renew(some) }
            return !some.isEmpty
        case .save:
            guard let lease = any(leases) else { return false }
            let checkpoint: [UInt8]? = chance(0.8) ? [UInt8.random(in: 0...9, using: &random)] : nil
            let progress = chance(0.5) ? WorkloadProgress(Int.random(in: 0...9, using: &random), of: 10, .files) : nil
            return try await both("save") {
                try await $0.save(checkpoint, progress, under: lease)
                return true
            } ?? false
        case .note:
            guard let lease = any(leases) else { return false }
            return try await both("note") {
                try await $0.note("n", under: lease)
                return true
            } ?? false
        case .finish: return try await end(.finished)
        case .fail: return try await end(.failed(error: "e", delay: chance(0.3) ? .seconds(1) : nil))
        case .postpone: return try await end(.deferred(reason: "d", delay: chance(0.5) ? .seconds(3) : nil))
        case .expire:
            let sightings = try await both("leases") { try await $0.leases() } ?? []
            guard let sighting = any(sightings) else { return false }
            let loss = any(LeaseLoss.allCases) ?? .expired
            try await both("expiry of \(sighting)") { try await $0.reclaim(sighting, because: loss, at: now) }
            lost(sighting.lease)
            try await both("second expiry of \(sighting)") {
                try await $0.reclaim(sighting, because: loss, at: now)
            }
        case .stale:
            guard let lease = any(old) else { return false }
            try await both("stale \(lease)") { try await $0.renew([lease]) }
            try await both("stale \(lease)") {
                try await $0.save([1], nil, under: lease)
                return true
            }
            try await both("stale \(lease)") { try await $0.end(lease, .finished, at: now) }
        case .raise, .await:
            guard let id = any(items), let level = any(Self.levels) else { return false }
            return try await both("\(call) of \(id)") {
                if call == .raise { try await $0.raise(id, to: level) } else { try await $0.awaited(id, at: level) }
                return true
            } ?? false
        case .cancel:
            guard chance(0.3), let id = any(items) else { return false }
            return try await both("cancellation of \(id)") {
                try await $0.cancel(id, because: "stop", at: now)
                return true
            } ?? false
        case .runNow:
            guard let id = any(items) else { return false }
            return try await both("run of \(id)") {
                try await $0.runNow(id, at: now)
                return true
            } ?? false
        case .fileChange:
            guard let id = any(items) else { return false }
            return try await both("file change of \(id)") {
                try await $0.noteFileChange(for: id, at: now)
                return true
            } ?? false
        case .pause:
            guard let name = any(Self.names) else { return false }
            let reason = paused.remove(name) == nil ? "p" : nil
            if reason != nil { paused.insert(name) }
            try await both("pause of \(name)") {
                try await $0.setPaused(name, because: reason, at: now)
                return true
            }
        case .condition: unmet = Set(["x", "y"].filter { _ in chance(0.4) })
        case .time: self.now = now.advanced(by: seconds(1...8))
        case .clockSetBack:
            guard chance(0.2) else { return false }
            self.now = now.advanced(by: .zero - seconds(10...200))
        case .removeEnded:
            guard chance(0.3) else { return false }
            let states: Set<WorkloadState> = chance(0.7) ? [.finished, .cancelled, .dead] : [.finished, .dead]
            try await both("removal") { try await $0.removeEnded(before: now.advanced(by: .seconds(-20)), in: states) }
        case .overdue:
            guard chance(0.3) else { return false }
            try await both("raise of overdue items") {
                try await $0.raiseOverdue(dueBefore: now.advanced(by: .seconds(-10)))
                return true
            }
        }
        return true
    }

    private mutating func request() -> WorkloadRequest {
        var request = WorkloadRequest(
            any(Self.names) ?? "a", level: any(Self.levels) ?? .utility,
            retry: RetryPolicy(maximumAttempts: 2, base: .seconds(2)))
        if chance(isCrowded ? 0.95 : 0.4) {
            request.concurrency = ConcurrencyKey(chance(0.5) ? "k" : "l", limit: any([1, 1, 2, 3, 4]) ?? 1)
        }
        if isCrowded { return request }
        if chance(0.2) { request.parameters = [1, 2, 3] }
        if chance(0.2) { request.version = 2 }
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: request.schedule = .after(seconds(1...20))
        case 2: request.schedule = .at(now.advanced(by: seconds(-5...20)))
        case 3: request.schedule = .every(seconds(4...20), tolerance: .seconds(2))
        case 4: request.schedule = (try? .cron("* * * * *")) ?? .now
        case 5:
            request.schedule = .onFileEvents(FileEventTrigger(paths: ["/x"], settling: .seconds(1), limit: .seconds(4)))
        default: break
        }
        request.catchUp = any([.runOnce, .runOnce, .runAll, .skip]) ?? .runOnce
        let parents = (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in any(items) }
        request.dependencies = Set(parents).sorted().map { .item($0) }
        if chance(0.3) { request.onFailedParent = .runAnyway }
        if chance(0.3) { request.conditions = chance(0.5) ? [.named("x")] : [.named("y"), .named("x")] }
        if chance(0.3) {
            request.unique = UniqueKey(
                chance(0.5) ? "u" : "v", onDuplicate: any(DuplicatePolicy.allCases) ?? .keep)
        }
        return request
    }

    private mutating func insert(_ requests: [WorkloadRequest]) async throws -> Bool {
        let now = self.now
        guard let answers = try await both("insertion", { try await $0.insert(requests, at: now) }) else {
            return false
        }
        for case .inserted(let id) in answers { items.append(id) }
        return true
    }

    private mutating func question() -> ClaimRequest {
        let unmet = self.unmet
        let classes = Set(QoSClass.allCases.filter { _ in chance(0.8) })
        var request = ClaimRequest(
            host: chance(0.5) ? "h" : "i", process: chance(0.5) ? "p" : nil,
            workloads: Set(Self.names.filter { _ in chance(0.8) }), classes: classes
        ) { condition in
            if case .named(let name) = condition, unmet.contains(name) { .unmet(name) } else { .met }
        }
        if chance(0.7) { request.versions = ["a": 2, "b": 3] }
        return request
    }

    /// Ends several attempts, with a stale lease among them, and claims several items: all in one call.
    private mutating func exchange() async throws -> Bool {
        let now = self.now
        var ends: [AttemptEnd] = []
        var ended = leases.filter { _ in chance(0.4) }
        if chance(0.3), let stale = any(old) { ended.append(stale) }
        for lease in Set(ended).sorted(by: { ($0.item, $0.fence) < ($1.item, $1.fence) }) {
            let result = any([
                AttemptResult.finished, .finished, .failed(error: "e", delay: nil),
                .deferred(reason: "d", delay: chance(0.5) ? .seconds(3) : nil),
            ])
            let progress = chance(0.5) ? WorkloadProgress(Int.random(in: 0...9, using: &random), of: 10) : nil
            ends.append(AttemptEnd(lease, result ?? .finished, progress: progress))
        }
        var request: ClaimRequest?
        if chance(0.8) {
            var several = question()
            for qosClass in several.classes { several.places[qosClass] = any([0, 1, 2, 5]) }
            several.limit = any([0, 1, 3, 64, .max]) ?? 1
            request = several
        }
        let exchange = HostExchange(ends: ends, claim: request, leases: leases.filter { !ended.contains($0) })
        let answer = try await both("exchange") { store in
            var answer = try await store.exchange(exchange, at: now)
            // A number of each store's own.
            answer.mark = TermsMark(number: 0)
            return answer
        }
        for end in ends { lost(end.lease) }
        leases += answer?.claims.map(\.lease) ?? []
        return !ends.isEmpty || answer?.claims.isEmpty == false
    }

    private mutating func claim() async throws -> Bool {
        let now = self.now
        let request = question()
        guard let claim = try await both("claim", { try await $0.claim(request, at: now) }) ?? nil else { return false }
        leases.append(claim.lease)
        return true
    }

    private mutating func end(_ result: AttemptResult) async throws -> Bool {
        let now = self.now
        guard let lease = any(leases) else { return false }
        try await both("end of \(lease) by \(result)") { try await $0.end(lease, result, at: now) }
        lost(lease)
        return true
    }

    private mutating func lost(_ lease: WorkloadLease) {
        leases.removeAll { $0 == lease }
        old.append(lease)
    }

    private func compare(after call: Call) async throws {
        let (records, others) = (
            try await store.records(matching: WorkloadQuery()), try await expected.records(matching: WorkloadQuery())
        )
        try require(records.map(\.id) == others.map(\.id), "items after \(call)")
        for (record, other) in zip(records, others) {
            try require(record == other, "\(record.id) after \(call):\n\(record)\nnot\n\(other)")
        }
        try await both("leases after \(call)") { try await $0.leases() }
        try await both("next due time after \(call)") { try await $0.nextDue() }
        try await both("pauses after \(call)") { try await $0.pauses() }
        try await both("summary after \(call)") { try await $0.summary() }
        for id in items.suffix(3) { try await both("attempts of \(id)") { try await $0.attempts(of: id) } }
    }

    private func require(_ holds: Bool, _ what: @autoclosure () -> String) throws {
        if !holds { throw Mismatch("seed \(seed): \(what())") }
    }
}

private struct Mismatch: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

@Suite("Random calls to two stores")
struct RandomStoreTests {
    @Test("SQLite gives the same answers as memory, call by call", arguments: UInt64(0)..<40)
    func agreement(seed: UInt64) async throws {
        let place = try StorePlace()
        var pair = StorePair(seed: seed, place, try place.open())
        for _ in 0..<150 { try await pair.step() }
    }

    @Test("so it does in a crowd of items that share keys, with limits of their own", arguments: UInt64(400)..<430)
    func crowds(seed: UInt64) async throws {
        let place = try StorePlace()
        var pair = StorePair(seed: seed, isCrowded: true, place, try place.open())
        for _ in 0..<150 { try await pair.step() }
    }

    @Test("two connections to one file give the same answers as one store in memory", arguments: UInt64(100)..<120)
    func alternation(seed: UInt64) async throws {
        let place = try StorePlace()
        var pair = StorePair(seed: seed, place, AlternatingStore([try place.open(), try place.open()]))
        for _ in 0..<100 { try await pair.step() }
    }

    @Test("so does a file that is opened anew for each call", arguments: UInt64(200)..<205)
    func reopening(seed: UInt64) async throws {
        let place = try StorePlace()
        var pair = StorePair(seed: seed, place, try ReopeningStore(place))
        for _ in 0..<60 { try await pair.step() }
    }

    @Test("the random calls reach every event")
    func coverage() async throws {
        var reached: [StorePair.Call: Int] = [:]
        for seed: UInt64 in 300..<316 {
            let place = try StorePlace()
            var pair = StorePair(seed: seed, place, try place.open())
            for _ in 0..<300 { try await pair.step() }
            reached.merge(pair.reached, uniquingKeysWith: +)
        }
        for call in StorePair.Call.allCases { #expect(reached[call, default: 0] > 5, "\(call)") }
    }
}
#endif
