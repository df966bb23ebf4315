import Foundation
import GRDB
import QoSSQLiteStore

/// W: rates and times of stores of workloads. Each line is a figure: `name=value unit`.
///
///     qos-bench-store [ITEMS]      ITEMS waiting items for the claims, 1 000 000 without it
@main
struct StoreBench {
    static let now = WallTime(secondsSince1970: 1_800_000_000)
    static let claim = ClaimRequest(host: "bench", workloads: ["a"])

    static func main() async throws {
        let waiting = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 1_000_000 : 1_000_000
        let folder = NSTemporaryDirectory() + "qos-bench-store-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let scheduler = try QoSScheduler()

        say("memory", try await rate(InMemoryWorkloadStore(), scheduler, tasks: 1, items: 50_000), "items/s")
        for round in 1...3 {
            say(
                "grdb loop, no disk wait", try plain("\(folder)/plain\(round)", items: 3000, synchronous: "NORMAL"),
                "items/s")
            var quick = SQLiteStoreConfiguration()
            quick.durability = .processCrash
            let store = try SQLiteStore(at: "\(folder)/quick\(round)", configuration: quick)
            say("store, no disk wait, 1 task", try await rate(store, scheduler, tasks: 1, items: 3000), "items/s")
            let durable = try SQLiteStore(at: "\(folder)/durable\(round)")
            say(
                "grdb loop, durable", try plain("\(folder)/plainfull\(round)", items: 300, synchronous: "FULL"),
                "items/s")
            say("store, durable, 1 task", try await rate(durable, scheduler, tasks: 1, items: 300), "items/s")
            say("store, durable, 256 tasks", try await rate(durable, scheduler, tasks: 256, items: 8000), "items/s")
        }
        try await crowd("\(folder)/crowd", waiting)
    }

    static func say(_ name: String, _ value: Double, _ unit: String) {
        print("\(name)=\(String(format: "%.2f", value)) \(unit)")
        fflush(nil)
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
        say("insert of \(count) in lists of 1000", Double(count) / seconds(since: begin), "items/s")
        var claims: [Double] = []
        for _ in 0..<1000 {
            let begin = ContinuousClock.now
            _ = try await store.claim(claim, at: now)
            claims.append(seconds(since: begin) * 1000)
        }
        claims.sort()
        say("claim beside \(count), median", claims[500], "ms")
        say("claim beside \(count), p99", claims[990], "ms")
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
        say("raise with 1000 dependencies beside \(count), median", raises[10], "ms")
        say("raise with 1000 dependencies beside \(count), worst", raises[19], "ms")
    }

    static func seconds(since begin: ContinuousClock.Instant) -> Double {
        (ContinuousClock.now - begin) / .seconds(1)
    }
}
