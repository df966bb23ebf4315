import GRDB
import QoSRuntime

/// The summary of a note. Counting words stands for real work, such as thumbnails or text recognition.
struct Digest: Codable, Sendable, FetchableRecord, PersistableRecord {
    var note: Int64
    var words: Int
}

/// The notes and their digests, in a database.
struct Notes: Sendable {
    private let database: any DatabaseWriter

    init(_ database: any DatabaseWriter) throws {
        self.database = database
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
                    CREATE TABLE IF NOT EXISTS digest (note INTEGER PRIMARY KEY, words INTEGER NOT NULL);
                    """)
        }
    }

    func add(_ text: String) async throws -> Int64 {
        try await QoS.withBlocking {
            try database.write { db in
                try db.execute(sql: "INSERT INTO note (text) VALUES (?)", arguments: [text])
                return db.lastInsertedRowID
            }
        }
    }

    func text(of note: Int64) async throws -> String? {
        try await QoS.withBlocking {
            try database.read { db in
                try String.fetchOne(db, sql: "SELECT text FROM note WHERE id = ?", arguments: [note])
            }
        }
    }

    func digest(of note: Int64) async throws -> Digest? {
        try await QoS.withBlocking {
            try database.read { db in try Digest.fetchOne(db, key: note) }
        }
    }

    func save(_ digest: Digest) async throws {
        try await QoS.withBlocking {
            try database.write { db in try digest.save(db) }
        }
    }
}
