import Foundation
import GRDB
import QoSSQLiteStore

/// W, a peer: the design of swift-jobs' drivers for databases, with the library and the settings of our store.
///
/// One table has the jobs, another one the queue. A job is pushed in a transaction of two inserts. It is popped in one
/// that selects and deletes the first row of the queue and sets the job's status. Its end is a transaction that deletes
/// it. There are no leases, no levels that rise, and no dependencies.
struct TwoTables: Sendable {
    /// The values of the column `status`.
    private enum Status: Int {
        case pending
        case processing
    }

    private static let job = Data(#"{"name":"a","parameters":{}}"#.utf8)
    private let pool: DatabasePool

    /// Makes the tables in a new file.
    init(_ path: String, synchronous: String) throws {
        pool = try DatabasePool(path: path)
        try pool.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA synchronous = \(synchronous);
                    CREATE TABLE jobs (
                        id BLOB PRIMARY KEY NOT NULL, job BLOB NOT NULL, status INTEGER NOT NULL,
                        created_at INTEGER NOT NULL, last_modified INTEGER NOT NULL);
                    CREATE TABLE queue (
                        job_id BLOB PRIMARY KEY NOT NULL, priority INTEGER NOT NULL, delayed_until INTEGER NOT NULL,
                        created_at INTEGER NOT NULL);
                    CREATE INDEX queue_order ON queue (priority DESC, delayed_until, created_at);
                    """)
        }
    }

    /// Items per second through push, pop and finish, in a plain loop.
    func loopRate(items: Int) throws -> Double {
        let begin = ContinuousClock.now
        for number in 0..<items {
            try pool.write { try Self.push($0, at: number) }
            let id = try pool.write { try Self.pop($0, at: number) }
            try pool.write { try Self.finish($0, id) }
        }
        return Double(items) / seconds(since: begin)
    }

    /// The same in several tasks.
    func rate(_ scheduler: QoSScheduler, tasks: Int, items: Int) async throws -> Double {
        let begin = ContinuousClock.now
        let running = (0..<tasks).map { _ in
            scheduler.startDetachedTask(at: .utility) { [pool] in
                for number in 0..<items / tasks {
                    try await pool.write { try Self.push($0, at: number) }
                    let id = try await pool.write { try Self.pop($0, at: number) }
                    try await pool.write { try Self.finish($0, id) }
                }
            }
        }
        for task in running { try await task.value }
        return Double(items / tasks * tasks) / seconds(since: begin)
    }

    private static func push(_ database: Database, at now: Int) throws {
        let id = UUID()
        try database.cachedStatement(
            sql: "INSERT INTO jobs (id, job, status, created_at, last_modified) VALUES (?, ?, ?, ?, ?)"
        ).execute(arguments: [id, job, Status.pending.rawValue, now, now])
        try database.cachedStatement(
            sql: "INSERT INTO queue (job_id, priority, delayed_until, created_at) VALUES (?, 0, 0, ?)"
        ).execute(arguments: [id, now])
    }

    /// A task pops after its own push, so a job is there.
    private static func pop(_ database: Database, at now: Int) throws -> UUID {
        let first = try database.cachedStatement(
            sql: """
                DELETE FROM queue WHERE job_id = (
                    SELECT job_id FROM queue INDEXED BY queue_order WHERE delayed_until <= ?
                    ORDER BY priority DESC, delayed_until, created_at LIMIT 1)
                RETURNING job_id
                """)
        // All rows are read: the statement deletes when it ends.
        guard let id = try UUID.fetchAll(first, arguments: [now]).first else {
            throw DatabaseError(message: "the queue is empty")
        }
        try database.cachedStatement(sql: "UPDATE jobs SET status = ?, last_modified = ? WHERE id = ?")
            .execute(arguments: [Status.processing.rawValue, now, id])
        let read = try database.cachedStatement(sql: "SELECT job FROM jobs WHERE id = ?")
        guard try Data.fetchOne(read, arguments: [id]) == job else { throw DatabaseError(message: "no job \(id)") }
        return id
    }

    private static func finish(_ database: Database, _ id: UUID) throws {
        try database.cachedStatement(sql: "DELETE FROM jobs WHERE id = ?").execute(arguments: [id])
    }
}
