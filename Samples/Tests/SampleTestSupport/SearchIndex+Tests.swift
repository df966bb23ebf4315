internal import GRDB
public import Indexing

/// A pass paused where a test expects none.
public struct UnexpectedPause: Error {
    /// Why.
    public let reason: PauseReason
}

extension SearchIndex {
    /// Runs a whole pass; a pause is an error.
    @discardableResult
    public func runPass() throws -> PassReport {
        let pass = try makePass()
        while true {
            switch try pass.step() {
            case .progress: continue
            case .finished: return pass.report
            case .paused(let reason): throw UnexpectedPause(reason: reason)
            }
        }
    }

    /// The paths that match.
    public func hits(_ text: String, _ syntax: SearchSyntax = .words) throws -> Set<String> {
        Set(try search(SearchQuery(text, syntax: syntax, limit: 1000)).hits.map(\.path))
    }

    /// The paths that match each word of the vocabulary.
    public func hitSets() throws -> [String: Set<String>] {
        try Dictionary(uniqueKeysWithValues: WordWorld.words.map { ($0, try hits($0)) })
    }

    /// What SQLite and FTS5 say about the integrity of a database that nobody has open; `["ok"]` is good.
    public static func integrity(of database: String) throws -> [String] {
        let queue = try indexQueue(database)
        defer { try? queue.close() }
        return try queue.write { database in
            try database.execute(sql: "INSERT INTO document (document, rank) VALUES ('integrity-check', 1)")
            if try database.tableExists("part") {
                // Without a look at the texts: SQLite 3.40 fails to compare with those of another full-text table.
                try database.execute(sql: "INSERT INTO part (part) VALUES ('integrity-check')")
            }
            return try String.fetchAll(database, sql: "PRAGMA integrity_check")
        }
    }

    /// The number of pages of the full-text index in a database that nobody has open.
    public static func pages(of database: String) throws -> Int {
        let queue = try indexQueue(database)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM document_data") } ?? 0
    }
}

/// Opens the database of an index outside of it.
private func indexQueue(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.prepareDatabase { IndexDatabase.prepare($0) }
    return try DatabaseQueue(path: path, configuration: configuration)
}

/// Executes a statement in a database that no other process has open.
public func execute(_ sql: String, in path: String) throws {
    let queue = try indexQueue(path)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
}

/// Returns the version of the tables of a database.
public func tablesVersion(of path: String) throws -> Int {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
}

/// Keeps a database locked for its life.
public final class DatabaseLock {
    private let queue: DatabaseQueue

    /// Begins a transaction that writes.
    public init(on path: String) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.beginTransaction(.immediate) }
    }

    /// Ends the transaction.
    public func release() throws {
        try queue.inDatabase { try $0.rollback() }
    }
}
