internal import Foundation
internal import GRDB
internal import TreeScan

/// The statements on the table `file`. Valid within one access to the database.
struct FileTable {
    let database: Database

    /// Returns the row of a path, if there is one. O(log n).
    func find(_ path: RelativePath) throws -> FileRow? {
        let statement = try database.cachedStatement(sql: "SELECT \(FileRow.columns) FROM file WHERE path = ?")
        return try Row.fetchOne(statement, arguments: [Data(path.bytes)]).map(FileRow.init)
    }

    /// Returns the row of a number, if there is one. O(log n).
    func find(_ id: Int64) throws -> FileRow? {
        let statement = try database.cachedStatement(sql: "SELECT \(FileRow.columns) FROM file WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id]).map(FileRow.init)
    }

    /// Returns up to `limit` rows of a folder, itself a file or not, after a path, in the order of paths.
    func rows(below folder: RelativePath, after path: [UInt8], limit: Int) throws -> [FileRow] {
        let upper = folder.subtree?.upper
        let statement = try database.cachedStatement(
            sql: """
                SELECT \(FileRow.columns) FROM file WHERE path > ? \(upper == nil ? "" : "AND path < ?")
                ORDER BY path LIMIT ?
                """
        )
        var arguments: StatementArguments = [Data(path)]
        if let upper { arguments += [Data(upper)] }
        return try Row.fetchAll(statement, arguments: arguments + [limit]).map(FileRow.init)
    }

    /// Adds a file that is not read yet. Returns its number.
    func insert(_ path: RelativePath, _ stamp: FileStamp) throws -> Int64 {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO file (path, size, modified, changed, inode, device, state) VALUES (?, ?, ?, ?, ?, ?, 0)
                """
        )
        try statement.execute(arguments: [Data(path.bytes)] + Self.arguments(stamp))
        return database.lastInsertedRowID
    }

    /// Marks a file that must be read again. Its document, if any, stays.
    func markPending(_ id: Int64) throws {
        let sql = "UPDATE file SET state = 0, truncated = 0, reason = '', detail = '' WHERE id = ?"
        try database.cachedStatement(sql: sql).execute(arguments: [id])
    }

    /// Returns up to `limit` files that are not read yet.
    func pending(limit: Int) throws -> [FileRow] {
        let statement = try database.cachedStatement(
            sql: "SELECT \(FileRow.columns) FROM file WHERE state = 0 ORDER BY id LIMIT ?"
        )
        return try Row.fetchAll(statement, arguments: [limit]).map(FileRow.init)
    }

    /// Returns up to `limit` files that are not read yet, after the number `id`.
    func pending(after id: Int64, limit: Int) throws -> [FileRow] {
        let statement = try database.cachedStatement(
            sql: "SELECT \(FileRow.columns) FROM file WHERE state = 0 AND id > ? ORDER BY id LIMIT ?"
        )
        return try Row.fetchAll(statement, arguments: [id, limit]).map(FileRow.init)
    }

    /// Returns up to `limit` rows after the number `id`, in the order of numbers.
    func rows(after id: Int64, limit: Int) throws -> [FileRow] {
        let statement = try database.cachedStatement(
            sql: "SELECT \(FileRow.columns) FROM file WHERE id > ? ORDER BY id LIMIT ?"
        )
        return try Row.fetchAll(statement, arguments: [id, limit]).map(FileRow.init)
    }

    /// Writes the result of reading a file.
    func settle(_ row: FileRow, detail: String) throws {
        let statement = try database.cachedStatement(
            sql: """
                UPDATE file SET size = ?, modified = ?, changed = ?, inode = ?, device = ?,
                    state = ?, racy = ?, documented = ?, truncated = ?, reason = ?, detail = ? WHERE id = ?
                """
        )
        try statement.execute(
            arguments: Self.arguments(row.stamp) + [
                row.state.rawValue, row.isRacy, row.isDocumented, row.isTruncated, row.reason?.rawValue ?? "", detail,
                row.id,
            ]
        )
    }

    /// Removes a row.
    func delete(_ id: Int64) throws {
        try database.cachedStatement(sql: "DELETE FROM file WHERE id = ?").execute(arguments: [id])
    }

    /// Calls `body` with the number of the file at `path` and of each one below it. O(log n + matches).
    func forEachIdentifier(atOrBelow path: RelativePath, _ body: (Int64) -> Void) throws {
        let cursor: FastDatabaseValueCursor<Int64>
        if let (lower, upper) = path.subtree {
            cursor = try Int64.fetchCursor(
                database.cachedStatement(sql: "SELECT id FROM file WHERE path = ? OR (path >= ? AND path < ?)"),
                arguments: [Data(path.bytes), Data(lower), Data(upper)]
            )
        } else {
            cursor = try Int64.fetchCursor(database.cachedStatement(sql: "SELECT id FROM file"))
        }
        while let id = try cursor.next() {
            body(id)
        }
    }

    /// Returns the counts over all rows. O(n).
    func counts() throws -> IndexCounts {
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT state, reason, truncated, count(*) FROM file GROUP BY state, reason, truncated"
        )
        var counts = IndexCounts()
        while let row = try rows.next() {
            let one = IndexCounts(
                state: FileState(rawValue: row[0]) ?? .pending,
                reason: FileReason(rawValue: row[1]),
                isTruncated: row[2]
            )
            counts.add(one, times: row[3])
        }
        return counts
    }

    /// Returns the first files, by path, that could not be read or only in part. O(their number).
    func problems(limit: Int) throws -> [FileProblem] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT path, CASE state WHEN 3 THEN reason ELSE 'truncated' END, detail FROM file
                WHERE state = 3 OR truncated = 1 ORDER BY path LIMIT ?
                """
        )
        return try Row.fetchAll(statement, arguments: [limit]).map { row in
            FileProblem(path: RelativePath(bytes: Array(row[0] as Data)).display, reason: row[1], detail: row[2])
        }
    }

    private static func arguments(_ stamp: FileStamp) -> StatementArguments {
        [
            stamp.size, stamp.modified, stamp.changed,
            Int64(bitPattern: stamp.inode), Int64(bitPattern: stamp.device),
        ]
    }
}
