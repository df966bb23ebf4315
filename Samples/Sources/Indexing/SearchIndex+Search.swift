internal import Foundation
internal import GRDB
public import TreeScan

extension SearchIndex {
    /// The number of matching files up to which `SearchAnswer.total` is exact.
    public static let totalLimit = 10_000

    /// Answers a query from what is indexed at this moment.
    ///
    /// Blocks the calling thread while the database reads, typically for milliseconds, and never waits for a pass. Any
    /// thread may call it. The time grows with the number of matching files, which are all ranked. A single prefix of
    /// one or two letters says next to nothing, and is not ranked.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - control: Ends the search early.
    /// - Throws: `SearchError`, among others `timedOut` and `cancelled` when the control says so.
    public func search(
        _ query: SearchQuery,
        control: SearchControl = SearchControl()
    ) throws(SearchError) -> SearchAnswer {
        // Taken first. Later commits may be found, but still count as pending.
        let status = board.current
        return try searching().answer(
            query, control, isComplete: status.isComplete, pending: status.counts.pending)
    }

    /// Returns some lines of the indexed text of a file, or nil when there is no such file in the index.
    ///
    /// Blocks the calling thread while the database reads. Any thread may call it.
    ///
    /// - Parameters:
    ///   - id: The number of the file, as in a hit.
    ///   - lines: The numbers of the lines, from 1.
    ///   - query: The query whose matches are marked; nil for none.
    ///   - control: Ends the reading early.
    /// - Throws: `SearchError`.
    public func excerpt(
        of id: Int64, lines: ClosedRange<Int>, marking query: SearchQuery? = nil,
        control: SearchControl = SearchControl()
    ) throws(SearchError) -> TextExcerpt? {
        try excerpt("file.id = ?", [id], lines, query, control)
    }

    /// Returns some lines of the indexed text of the file at a path, as ``excerpt(of:lines:marking:control:)``.
    ///
    /// - Throws: `SearchError`.
    public func excerpt(
        at path: RelativePath, lines: ClosedRange<Int>, marking query: SearchQuery? = nil,
        control: SearchControl = SearchControl()
    ) throws(SearchError) -> TextExcerpt? {
        try excerpt("file.path = ?", [Data(path.bytes)], lines, query, control)
    }

    private func excerpt(
        _ condition: String, _ arguments: StatementArguments, _ lines: ClosedRange<Int>, _ query: SearchQuery?,
        _ control: SearchControl
    ) throws(SearchError) -> TextExcerpt? {
        try searching().read(nil, control) { database in
            let query = query?.stemmed(try IndexSchema.stemming(database))
            let statement = try database.cachedStatement(
                sql: """
                    SELECT file.path, CAST(body AS BLOB), truncated FROM file JOIN document ON file.id = document.rowid
                    WHERE \(condition)
                    """
            )
            return try Row.fetchOne(statement, arguments: arguments).map { row in
                TextExcerpt(
                    path: Array(row[0] as Data), text: Array(row[1] as Data), isTruncated: row[2], lines: lines,
                    marking: query?.terms)
            }
        }
    }

    private func searching() throws(SearchError) -> Searching {
        do {
            return Searching(pool: try pool()) { [self] in report(damage: $0) }
        } catch {
            throw .unavailable("\(error)")
        }
    }
}
