import Foundation
import GRDB
import QoSSQLiteStore

/// W: rates of stores, and times of single calls beside many waiting items.
struct StoreRates {
    static let now = WallTime(secondsSince1970: 1_800_000_000)
    static let claim = ClaimRequest(host: "bench", workloads: ["a"])

    /// Measures everything, with this number of waiting items for the claims.
    static func run(in folder: String, waiting: Int) async throws {
        let scheduler = try QoSScheduler()
        let memory = try await rate(InMemoryWorkloadStore(), scheduler, tasks: 1, items: 50_000)
        say("W memory, 1 task", memory, "items/s", .atLeast(100_000))
        for round in 1...3 {
            let plain = try plain("\(folder)/plain\(round)", items: 3000, synchronous: "NORMAL")
            say("W plain GRDB loop, no disk wait", plain, "items/s")
            var quick = SQLiteStoreConfiguration()
            quick.durability = .processCrash
            let store = try SQLiteStore(at: "\(folder)/quick\(round)", configuration: quick)
            let ours = try await rate(store, scheduler, tasks: 1, items: 3000)
            say("W SQLite, no disk wait, 1 task", ours, "items/s")
            say("W … over the plain loop", ours / plain, "", .atLeast(0.5))
            let tables = try TwoTables("\(folder)/tables\(round)", synchronous: "NORMAL").loopRate(items: 3000)
            say("W two tables, no disk wait, 1 task", tables, "items/s")
            say("W SQLite over two tables, no disk wait, 1 task", ours / tables, "", .atLeast(0.5))
            let durable = try SQLiteStore(at: "\(folder)/durable\(round)")
            let plainDurable = try Self.plain("\(folder)/plainfull\(round)", items: 300, synchronous: "FULL")
            say("W plain GRDB loop, durable", plainDurable, "items/s")
            let one = try await rate(durable, scheduler, tasks: 1, items: 300)
            say("W SQLite, durable, 1 task", one, "items/s")
            say("W … over the plain loop", one / plainDurable, "", .atLeast(0.5))
            let durableTables = try TwoTables("\(folder)/tablesfull\(round)", synchronous: "FULL")
            let oneOfTables = try durableTables.loopRate(items: 300)
            say("W two tables, durable, 1 task", oneOfTables, "items/s")
            say("W SQLite over two tables, durable, 1 task", one / oneOfTables, "", .atLeast(0.5))
            let many = try await rate(durable, scheduler, tasks: 256, items: 8000)
            say("W SQLite, durable, 256 tasks", many, "items/s", .atLeast(3000))
            // Each of its transactions waits for the disk alone, so fewer items take as long.
            let manyOfTables = try await durableTables.rate(scheduler, tasks: 256, items: 1024)
            say("W two tables, durable, 256 tasks", manyOfTables, "items/s")
            say("W SQLite over two tables, durable, 256 tasks", many / manyOfTables, "", .atLeast(1))
        }
        try await crowd("\(folder)/crowd", waiting)
    }

    /// Items through insert, claim and end, in several tasks.
    static func rate(_ store: any WorkloadStore, _ scheduler: QoSScheduler, tasks: Int, items: Int) async throws
        -> Double
    {
        let begin = ContinuousClock.now
        let running = (0..<tasks).map { _ in
            scheduler.startDetachedTask(at: .utility) {
                for _ in 0..<items / tasks {
                    _ = try await store.insert([WorkloadRequest("a")], at: now)
                    if let claim = try await store.claim(claim, at: now) {
                        try await store.end(claim.lease, .finished, at: now)
                    }
                }
            }
        }
        for task in running { try await task.value }
        return Double(items / tasks * tasks) / seconds(since: begin)
    }

    /// The same three writes in a plain loop: each a transaction of its own.
    static func plain(_ path: String, items: Int, synchronous: String) throws -> Double {
        let pool = try DatabasePool(path: path)
        try pool.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA synchronous = \(synchronous);
                    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, state INTEGER, due INTEGER, reason TEXT);
                    CREATE INDEX ready ON item (due) WHERE state = 0;
                    """)
        }
        let begin = ContinuousClock.now
        for number in 0..<items {
            try pool.write { database in
                let insert = try database.cachedStatement(
                    sql: "INSERT INTO item (name, state, due, reason) VALUES (?, 0, ?, ?)")
                try insert.execute(arguments: ["a", number, "waits for a host"])
            }
            let id = try pool.write { database in
                let first = try database.cachedStatement(
                    sql: "SELECT id FROM item INDEXED BY ready WHERE state = 0 ORDER BY due LIMIT 1")
                let id = try Int64.fetchOne(first)
                try database.cachedStatement(sql: "UPDATE item SET state = 1, reason = ? WHERE id = ?")
                    .execute(arguments: ["attempt 1", id])
                return id
            }
            try pool.write { database in
                try database.cachedStatement(sql: "UPDATE item SET state = 2, reason = ? WHERE id = ?")
                    .execute(arguments: ["finished", id])
            }
        }
        return Double(items) / seconds(since: begin)
    }

    /// Times of single calls beside many waiting items.
    static func crowd(_ path: String, _ count: Int) async throws {
        var quick = SQLiteStoreConfiguration()
        quick.durability = .processCrash
        let store = try SQLiteStore(at: path, configuration: quick)
        let begin = ContinuousClock.now
        for _ in 0..<count / 1000 {
            _ = try await store.insert((0..<1000).map { _ in WorkloadRequest("a") }, at: now)
        }
        say("W insert of \(count) in lists of 1000", Double(count) / seconds(since: begin), "items/s")
        var claims: [Double] = []
        for _ in 0..<1000 {
            let begin = ContinuousClock.now
            _ = try await store.claim(claim, at: now)
            claims.append(seconds(since: begin) * 1000)
        }
        claims.sort()
        say("W claim beside \(count), median", claims[500], "ms", .atMost(1))
        say("W claim beside \(count), p99", claims[990], "ms", .atMost(1))
        var raises: [Double] = []
        for _ in 0..<20 {
            let parents = try await store.insert((0..<1000).map { _ in WorkloadRequest("b") }, at: now)
            let request = WorkloadRequest("b", dependencies: parents.map { .item($0.item) })
            let child = try await store.insert([request], at: now)[0].item
            let begin = ContinuousClock.now
            try await store.raise(child, to: .userInitiated)
            raises.append(seconds(since: begin) * 1000)
        }
        raises.sort()
        say("W raise with 1000 dependencies beside \(count), median", raises[10], "ms", .atMost(20))
        say("W raise with 1000 dependencies beside \(count), worst", raises[19], "ms", .atMost(20))
    }
}
