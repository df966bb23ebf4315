#if SQLite
import GRDB
import QoSCore
import QoSFileTestSupport
import QoSKernel
import QoSTesting
import Testing

@testable import QoSSQLiteStore

@Suite("Faults of files, locks, clocks and hints")
struct StoreFaultTests {
    private let now = WallTime(secondsSince1970: 1_800_000_000)

    // MARK: Damage

    /// A store with an item in each state, closed.
    private func filled(_ place: StorePlace) async throws {
        let store = try place.open()
        let key = ConcurrencyKey("k", limit: 1)
        let parent = try await store.insert([WorkloadRequest("a", level: .utility)], at: now)[0].item
        _ = try await store.insert(
            [
                WorkloadRequest("a", conditions: [.named("x")]),
                WorkloadRequest("a", dependencies: [.item(parent)], unique: UniqueKey("u", onDuplicate: .keep)),
                WorkloadRequest("a", schedule: .after(.seconds(100))),
                WorkloadRequest("a", level: .utility, concurrency: key),
                WorkloadRequest("a", level: .utility, concurrency: key),
            ], at: now)
        let request = ClaimRequest(host: "h", workloads: ["a"]) { _ in .met }
        for _ in 0..<2 { _ = try await store.claim(request, at: now) }
        let ended = try await store.insert([WorkloadRequest("b")], at: now)
        try await store.cancel(ended[0].item, because: "test", at: now)
        try await store.setPaused("b", because: "p", at: now)
        try store.close()
    }

    /// Makes each kind of call, and counts those that find damage. Any other failure is one of the test.
    private func findings(_ store: SQLiteStore) async throws -> Int {
        let now = now.advanced(by: .seconds(200))
        let request = ClaimRequest(
            host: "h", workloads: ["a", "b"], atMost: [.background: 5, .utility: 5], verdict: { _ in .met })
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await store.records(matching: WorkloadQuery()) },
            { _ = try await store.records(matching: WorkloadQuery(onFileEvents: true)) },
            { _ = try await store.leases() },
            { _ = try await store.pauses() },
            { _ = try await store.nextDue() },
            { _ = try await store.raise(WorkloadItemID(rawValue: 3), to: .userInitiated) },
            { _ = try await store.insert([WorkloadRequest("a", level: .userInitiated)], at: now) },
            {
                let ends = (1...5).map { AttemptEnd(WorkloadLease(item: .init(rawValue: $0), fence: 1), .finished) }
                _ = try await store.exchange(HostExchange(ends: ends), at: now)
            },
            { _ = try await store.exchange(HostExchange(claim: request), at: now) },
            { _ = try await store.exchange(HostExchange(claim: request), at: now.advanced(by: .seconds(-1000))) },
            { _ = try await store.cancel(WorkloadItemID(rawValue: 4), because: "test", at: now) },
            { _ = try await store.removeEnded(before: now) },
        ]
        var found = 0
        for call in calls {
            do { try await call() } catch let error as SQLiteStoreError {
                guard case .damaged = error else { throw error }
                found += 1
            } catch is WorkloadStoreError {}
        }
        return found
    }

    @Test(
        "a value that a column cannot have is told as damage, and does not end the process",
        arguments: [
            "item.workload", "item.lane", "item.place", "item.level", "item.due", "item.state", "item.since",
            "item.flags", "item.attempts", "item.fence", "item.beat", "item.finished_runs", "item.inserted",
            "item.window_end", "item.planned", "item.reason", "request.level", "request.parameters", "workload.name",
            "lane.workload", "lane.gate", "gate.conditions", "store.last_id", "store.lanes",
        ])
    func missingValues(name: String) async throws {
        let place = try StorePlace()
        try await filled(place)
        let (table, column) = (name.split(separator: ".")[0], name.split(separator: ".")[1])
        try StorePlace.execute(
            "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') "
                + "WHERE type = 'table' AND name = '\(table)'", in: place.path)
        try StorePlace.execute("UPDATE \(table) SET \(column) = NULL", in: place.path)
        let store = try place.open()
        let found = try await findings(store)
        #expect(found > 0)
    }

    @Test(
        "an index that disagrees with its table is told as damage, and does not end the process",
        arguments: ["item_ready", "item_parked", "item_due", "item_running", "item_ended", "dependency_parent"])
    func staleIndex(name: String) async throws {
        let place = try StorePlace()
        try await filled(place)
        let table = name == "dependency_parent" ? "dependency" : "item"
        // For a connection that does not know of the index, its entries stay when the rows go.
        try StorePlace.execute(
            "CREATE TABLE saved (type, name, tbl_name, rootpage, sql); "
                + "INSERT INTO saved SELECT * FROM sqlite_master WHERE name = '\(name)'; "
                + "PRAGMA writable_schema = 1; DELETE FROM sqlite_master WHERE name = '\(name)'", in: place.path)
        try StorePlace.execute("DELETE FROM \(table)", in: place.path)
        try StorePlace.execute(
            "PRAGMA writable_schema = 1; INSERT INTO sqlite_master SELECT * FROM saved", in: place.path)
        let store = try place.open()
        let found = try await findings(store)
        // A call that needs no more columns than the index has does not see it.
        let isSeen = ["item_ready", "item_due", "item_running"].contains(name)
        #expect(found > 0 || !isSeen)
    }

    // MARK: Locks

    @Test("a lock that SQLite refuses at once is waited for when a store is opened")
    func openedAgain() throws {
        let place = try StorePlace()
        var settings = GRDB.Configuration()
        settings.allowsUnsafeTransactions = true
        let other = Lock<DatabaseQueue?>(nil)
        let tries = Lock(0)
        let path = place.path
        var configuration = StorePlace.quick
        configuration.reached = { [settings] point in
            if point.calls == ["create"], point.moment == .committed {
                // The tables are made, the journal is not yet a log: another process begins to write.
                let queue = try? DatabaseQueue(path: path, configuration: settings)
                try? queue?.inDatabase { try $0.beginTransaction(.immediate) }
                other.withLock { $0 = queue }
            } else if point.calls == ["open again"] {
                tries.withLock { $0 += 1 }
                try? other.withLock { $0 }?.inDatabase { if $0.isInsideTransaction { try $0.rollback() } }
            }
        }
        let store = try place.open(configuration)
        #expect(tries.withLock { $0 } > 0)
        try store.close()
    }

    // MARK: Clocks

    @Test("a clock that is set back moves items in steps, also over a restart")
    func clockSetBack() async throws {
        let place = try StorePlace()
        var configuration = StorePlace.quick
        configuration.stepLimit = 10
        var store = try place.open(configuration)
        let requests = (0..<35).map { number in
            WorkloadRequest("a", level: number % 2 == 0 ? .utility : .background, schedule: .after(.seconds(1000)))
        }
        _ = try await store.insert(requests, at: now)
        let back = now.advanced(by: .seconds(-500))
        let due = back.advanced(by: .seconds(1000))
        for moved in [10, 20, 30, 35] {
            let answer = try await store.exchange(
                HostExchange(claim: ClaimRequest(host: "h", workloads: ["a"])), at: back)
            #expect(answer.claims.isEmpty)
            let records = try await store.records(matching: WorkloadQuery())
            #expect(records.count { $0.due == due } == moved)
            // A host comes back at once until all are moved.
            #expect(answer.nextDue == (moved == 35 ? due : back))
            let next = try await store.nextDue()
            #expect(next == answer.nextDue)
            try store.close()
            store = try place.open(configuration)
        }
    }

    // MARK: Hints

    @Test("a hint that got lost is made up for by a look at the files", .timeLimit(.minutes(5)))
    func lostHint() async throws {
        let place = try StorePlace()
        var configuration = StorePlace.quick
        configuration.lookInterval = .milliseconds(5)
        let watching = try place.open(configuration)
        var changes = watching.changes().makeAsyncIterator()
        #expect(watching.lateHints == nil)
        // Its hints go to a file that no one else has.
        try StorePlace.remove(place.path + "-notice")
        let other = try place.open()
        try StorePlace.remove(place.path + "-notice")
        let id = try await other.insert([WorkloadRequest("a")], at: now)[0].item
        while try await watching.record(of: id) == nil { await changes.next() }
        // The insertion may have come before the first look.
        _ = try await other.insert([WorkloadRequest("a")], at: now)
        await changes.next()
    }

    @Test("a system that has no watch left is told, and hints come by looks", .timeLimit(.minutes(5)))
    func noWatch() async throws {
        let place = try StorePlace()
        var configuration = StorePlace.quick
        configuration.lookInterval = .milliseconds(5)
        configuration.makeWatch = { -1 }
        let watching = try place.open(configuration)
        var changes = watching.changes().makeAsyncIterator()
        let late = try #require(watching.lateHints)
        #expect(late.interval == .milliseconds(5))
        #expect(late.reason.contains("max_user_instances"))
        let other = try place.open()
        _ = try await other.insert([WorkloadRequest("a")], at: now)
        await changes.next()
    }

    @Test("the watchers are told before the call is acknowledged")
    func order() async throws {
        let place = try StorePlace()
        let steps = Lock<[String]>([])
        var configuration = StorePlace.quick
        configuration.reached = { point in
            if point.calls.contains("insert") { steps.withLock { $0.append(point.moment.rawValue) } }
        }
        let open = try OpenStore(StoreFile(path: place.path, settings: configuration)) {}
        let committer = Committer(open) { steps.withLock { $0.append("told") } }
        let now = now
        _ = try await committer.perform("insert") { try $0.inserted([WorkloadRequest("a")], at: now) }
        #expect(steps.withLock { $0 } == ["begun", "written", "committed", "told", "acknowledged"])
        try open.close()
    }
}
#endif
