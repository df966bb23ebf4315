internal import Foundation
internal import GRDB

/// The tables of an archive.
enum ArchiveSchema {
    /// Marks the database as ours, `PRAGMA application_id`.
    static let application: Int32 = 0x716F_7379

    /// The version of the tables, `PRAGMA user_version`.
    static let version: Int32 = 4

    /// Makes the tables in an empty database.
    ///
    /// `entry` has a row for each name that was in step. `intent` has a row for each change of a folder that was begun,
    /// and that a kill may have left half done. `part` has a row for each large file that is half written.
    static func create(in database: Database, _ settings: [String: String]) throws {
        try database.execute(
            sql: """
                CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
                CREATE TABLE entry (
                    path BLOB PRIMARY KEY, kind TEXT NOT NULL, target BLOB NOT NULL,
                    mode_a INTEGER NOT NULL, owner_a INTEGER NOT NULL, group_a INTEGER NOT NULL,
                    modified_a INTEGER NOT NULL, size_a INTEGER NOT NULL, changed_a INTEGER NOT NULL,
                    inode_a INTEGER NOT NULL, racy_a INTEGER NOT NULL,
                    mode_b INTEGER NOT NULL, owner_b INTEGER NOT NULL, group_b INTEGER NOT NULL,
                    modified_b INTEGER NOT NULL, size_b INTEGER NOT NULL, changed_b INTEGER NOT NULL,
                    inode_b INTEGER NOT NULL, racy_b INTEGER NOT NULL, digest BLOB,
                    attributes_a BLOB, attributes_b BLOB
                ) WITHOUT ROWID;
                CREATE TABLE intent (id INTEGER PRIMARY KEY, record BLOB NOT NULL);
                CREATE TABLE part (temporary BLOB PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
                """)
        for (name, value) in settings {
            try database.execute(sql: "INSERT INTO setting VALUES (?, ?)", arguments: [name, value])
        }
        try database.execute(sql: "PRAGMA application_id = \(application); PRAGMA user_version = \(version)")
    }

    /// Brings the tables of an older version up to date.
    static func update(_ database: Database, from older: Int32) throws {
        guard older < version else { return }
        if older == 1 { try database.execute(sql: "ALTER TABLE entry ADD COLUMN digest BLOB") }
        try database.execute(
            sql: "ALTER TABLE entry ADD COLUMN attributes_a BLOB; ALTER TABLE entry ADD COLUMN attributes_b BLOB")
        try database.execute(sql: "PRAGMA user_version = \(version)")
        guard older < 3 else { return }
        // Intents were text in JSON.
        let intents = try Row.fetchAll(database, sql: "SELECT id, record FROM intent").map { row in
            let (number, text): (Int64, String) = (row[0], row[1])
            return (number, try JSONDecoder().decode(Intent.self, from: Data(text.utf8)))
        }
        try database.execute(
            sql: "DROP TABLE intent; CREATE TABLE intent (id INTEGER PRIMARY KEY, record BLOB NOT NULL)")
        for (number, intent) in intents {
            try database.execute(
                sql: "INSERT INTO intent VALUES (?, ?)", arguments: [number, Data(intent.record)])
        }
    }
}
