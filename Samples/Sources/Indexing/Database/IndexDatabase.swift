internal import Foundation
package import GRDB

/// Opens the database of an index and checks that it is one.
package enum IndexDatabase {
    /// The content found in the place of the database.
    enum Finding: Equatable {
        case empty
        case ours
        case outdated
        case foreign
        case otherFolder(String)
        case damaged(String)
    }

    /// Adds what the tables of an index need to a connection.
    package static func prepare(_ database: Database) {
        database.add(tokenizer: WordTokenizer.self)
        database.add(function: .foldedText)
    }

    /// Opens the database in WAL mode with `synchronous=NORMAL`. A kill loses nothing, a power cut the last commits.
    static func open(_ path: String, sizeLimit: Int?, isReadOnly: Bool = false) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.label = "index"
        configuration.busyMode = .timeout(0.25)
        configuration.prepareDatabase { database in
            prepare(database)
            // Sorting must not need room on a disk that may be full.
            try database.execute(
                sql: "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; PRAGMA journal_size_limit = 16777216"
            )
            if let sizeLimit {
                let pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4096
                try database.execute(sql: "PRAGMA max_page_count = \(max(1, sizeLimit / pageSize))")
            }
        }
        return try DatabasePool(path: path, configuration: configuration)
    }

    /// Checks a file that may be any database.
    ///
    /// - Parameter isThorough: Whether to read every page. This is needed after an unclean end.
    static func examine(_ pool: DatabasePool, folder: String, isThorough: Bool) throws -> Finding {
        try pool.writeWithoutTransaction { database in
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
            let application = try Int32.fetchOne(database, sql: "PRAGMA application_id")
            guard application == IndexSchema.application else {
                return tables == 0 ? .empty : .foreign
            }
            guard try Int32.fetchOne(database, sql: "PRAGMA user_version") == IndexSchema.version else {
                return .outdated
            }
            if isThorough {
                let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no verdict"
                guard verdict == "ok" else { return .damaged(verdict) }
            }
            let owner = try String.fetchOne(database, sql: "SELECT value FROM setting WHERE name = 'folder'")
            return owner == folder ? .ours : .otherFolder(owner ?? "an unknown folder")
        }
    }
}

extension DatabaseFunction {
    /// `folded(text)`: a text without regard to capitals, accents and compatibility forms.
    static let foldedText = DatabaseFunction("folded", argumentCount: 1, pure: true) { values in
        guard let text = Data.fromDatabaseValue(values[0]) else { return nil }
        return String(decoding: WordText.folded(Array(text)), as: UTF8.self)
    }
}
