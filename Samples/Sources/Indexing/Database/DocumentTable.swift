internal import GRDB
internal import TreeScan

/// The statements on the full-text table `document`. Valid within one access to the database.
struct DocumentTable {
    let database: Database

    /// Writes the document of a file, in place of an earlier one if `isReplacing`. O(length of the text).
    func put(_ document: ExtractedDocument, of file: FileRow) throws {
        let sql =
            file.isDocumented
            ? "UPDATE document SET path = ?, title = ?, body = ? WHERE rowid = ?"
            : "INSERT INTO document (path, title, body, rowid) VALUES (?, ?, ?, ?)"
        try database.cachedStatement(sql: sql).execute(
            arguments: [file.path.description, document.title, document.body, file.id]
        )
    }

    /// Removes the document of a file. O(length of the text): reads the text once more to find its tokens.
    func delete(_ id: Int64) throws {
        try database.cachedStatement(sql: "DELETE FROM document WHERE rowid = ?").execute(arguments: [id])
    }

    /// Merges segments of the index until about `pages` pages are written, FTS5 §6.8.
    ///
    /// - Returns: Whether there was work to do.
    func merge(pages: Int) throws -> Bool {
        let before = database.totalChangesCount
        try database.cachedStatement(sql: "INSERT INTO document (document, rank) VALUES ('merge', ?)")
            .execute(arguments: [pages])
        return database.totalChangesCount - before >= 2
    }
}
