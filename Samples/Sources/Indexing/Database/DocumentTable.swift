internal import GRDB
internal import TreeScan

/// The statements on the full-text tables `document` and `part`. Valid within one access to the database.
struct DocumentTable {
    private let database: Database
    private let hasParts: Bool

    init(_ database: Database) throws {
        self.database = database
        hasParts = try IndexSchema.hasSubstrings(database)
    }

    /// Writes the document of a file, in place of an earlier one if `isReplacing`. O(length of the text).
    func put(_ document: ExtractedDocument, of file: FileRow) throws {
        if file.isDocumented { try deleteParts(file.id) }
        let sql =
            file.isDocumented
            ? "UPDATE document SET path = ?, title = ?, body = ? WHERE rowid = ?"
            : "INSERT INTO document (path, title, body, rowid) VALUES (?, ?, ?, ?)"
        try database.cachedStatement(sql: sql).execute(
            arguments: [file.path.description, document.title, document.body, file.id]
        )
        if file.isDocumented { try OutdatedTexts(database: database).add() }
        guard hasParts else { return }
        try database.cachedStatement(
            sql:
                """
                INSERT INTO part (rowid, path, title, body)
                SELECT rowid, path, title, body FROM document WHERE rowid = ?
                """
        ).execute(arguments: [file.id])
    }

    /// Removes the document of a file. O(length of the text): reads the text once more to find its tokens.
    func delete(_ id: Int64) throws {
        try deleteParts(id)
        try database.cachedStatement(sql: "DELETE FROM document WHERE rowid = ?").execute(arguments: [id])
        try OutdatedTexts(database: database).add()
    }

    /// Removes the parts of a document, which must still be there: they are found by its text (FTS5 §6.3).
    private func deleteParts(_ id: Int64) throws {
        guard hasParts else { return }
        try database.cachedStatement(
            sql: """
                INSERT INTO part (part, rowid, path, title, body)
                SELECT 'delete', rowid, path, title, body FROM document WHERE rowid = ?
                """
        ).execute(arguments: [id])
    }

    /// Merges parts of like size of each table until about `pages` pages of it are written, FTS5 §6.8.
    ///
    /// - Returns: Whether there was work to do.
    func merge(pages: Int) throws -> Bool {
        var hadWork = false
        for table in hasParts ? ["document", "part"] : ["document"] {
            let before = database.totalChangesCount
            try database.cachedStatement(sql: "INSERT INTO \(table) (\(table), rank) VALUES ('merge', ?)")
                .execute(arguments: [pages])
            if database.totalChangesCount - before >= 2 { hadWork = true }
        }
        return hadWork
    }

    /// Merges all parts of the index into one, until about `pages` pages are written. The next call goes on.
    ///
    /// - Returns: Whether there was work to do.
    func mergeAll(pages: Int) throws -> Bool {
        // A negative number means all parts. It does not begin anew while they are being merged.
        if try merge(pages: -pages) { return true }
        try OutdatedTexts(database: database).clear()
        return false
    }
}
