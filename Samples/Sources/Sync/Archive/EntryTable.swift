internal import Foundation
internal import GRDB
internal import TreeScan

/// What the archive learns about a name.
enum EntryResult {
    case write(ArchiveEntry)
    case remove(RelativePath)
}

/// The statements on the table `entry`. Valid within one access to the database.
struct EntryTable {
    let database: Database

    private static let columns = 22

    /// Returns all rows, in the order of the bytes of their paths.
    func all() throws -> [ArchiveEntry] {
        let rows = try Row.fetchCursor(database, sql: "SELECT * FROM entry ORDER BY path")
        var entries: [ArchiveEntry] = []
        while let row = try rows.next() {
            if let entry = entry(row) { entries.append(entry) }
        }
        return entries
    }

    private func entry(_ row: Row) -> ArchiveEntry? {
        guard let kind = FileKind(rawValue: row[1]) else { return nil }
        let path: Data = row[0]
        let target: Data = row[2]
        let digest: Data? = row[19]
        return ArchiveEntry(
            path: RelativePath(bytes: Array(path)), kind: kind, target: Array(target),
            sides: Pair(a: state(row, 3, 20), b: state(row, 11, 21)), digest: digest.map { Array($0) })
    }

    /// Returns a row; nil if there is none.
    func entry(_ path: RelativePath) throws -> ArchiveEntry? {
        let statement = try database.cachedStatement(sql: "SELECT * FROM entry WHERE path = ?")
        return try Row.fetchOne(statement, arguments: [Data(path.bytes)]).flatMap(entry)
    }

    /// Adds or replaces a row.
    func write(_ entry: ArchiveEntry) throws {
        let places = Array(repeating: "?", count: Self.columns).joined(separator: ", ")
        let statement = try database.cachedStatement(sql: "INSERT OR REPLACE INTO entry VALUES (\(places))")
        var arguments: [(any DatabaseValueConvertible)?] = [
            Data(entry.path.bytes), entry.kind.rawValue, Data(entry.target),
        ]
        for side in Side.allCases {
            let state = entry.sides[side]
            arguments += [
                Int64(state.metadata.mode), Int64(state.metadata.owner), Int64(state.metadata.group),
                state.metadata.modified, state.size, state.changed, Int64(bitPattern: state.inode), state.isRacy,
            ]
        }
        arguments.append(entry.digest.map { Data($0) })
        for side in Side.allCases { arguments.append(entry.sides[side].attributes.map { Data($0.encoded) }) }
        try statement.execute(arguments: StatementArguments(arguments))
    }

    /// Removes a row, if there is one.
    func remove(_ path: RelativePath) throws {
        try database.cachedStatement(sql: "DELETE FROM entry WHERE path = ?").execute(arguments: [Data(path.bytes)])
    }

    private func state(_ row: Row, _ first: Int, _ attributes: Int) -> ArchiveEntry.SideState {
        func number(_ offset: Int) -> Int64 { row[first + offset] }
        let metadata = Metadata(
            mode: UInt32(truncatingIfNeeded: number(0)), owner: UInt32(truncatingIfNeeded: number(1)),
            group: UInt32(truncatingIfNeeded: number(2)), modified: number(3))
        let print: Data? = row[attributes]
        return ArchiveEntry.SideState(
            metadata: metadata, size: number(4), changed: number(5), inode: UInt64(bitPattern: number(6)),
            isRacy: number(7) != 0, attributes: print.flatMap { try? AttributePrint(decoding: Array($0)) })
    }
}
