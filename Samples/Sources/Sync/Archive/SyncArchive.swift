internal import Foundation
internal import GRDB
internal import Glibc
internal import TreeScan

/// The memory of a pair of folders: what both had at the end of the last sync, and what was begun.
///
/// One process at a time has it open, by an exclusive flock(2). Every commit is on the disk when it returns.
final class SyncArchive: Sendable {
    /// The path of the database.
    let path: String
    /// A short name of the pair. Temporary files carry it.
    let name: String

    private let locks: [ArchiveLock]
    private let queue: DatabaseQueue
    /// Whether what the archive calls A is B here. A pair is the same pair in either order.
    private let isTurned: Bool

    /// Opens or makes the archive of a pair.
    ///
    /// - Parameters:
    ///   - directory: The folder of the archives. It is made if it is missing, with the rights 0700.
    ///   - a: The absolute path of A, without links.
    ///   - b: The absolute path of B, without links.
    /// - Throws: `SyncError`.
    init(in directory: String, a: String, b: String) throws {
        try Self.makeFolder(directory)
        let isInOrder = !b.utf8.lexicographicallyPrecedes(a.utf8)
        let names = isInOrder ? [Self.name(a, b), Self.name(b, a)] : [Self.name(b, a), Self.name(a, b)]
        var locks = [try ArchiveLock(path: directory + "/" + names[0] + ".lock")]
        name = Self.choose(names, in: directory)
        // Earlier versions lock the name of their own order only.
        if name != names[0] { locks.append(try ArchiveLock(path: directory + "/" + name + ".lock")) }
        self.locks = locks
        path = directory + "/" + name + ".sqlite"
        do {
            let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw SyncError.archive(path: path, detail: SystemError.text(errno)) }
            close(descriptor)
            var configuration = Configuration()
            configuration.label = "archive"
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL")
            }
            queue = try DatabaseQueue(path: path, configuration: configuration)
            isTurned = try Self.check(queue, path: path, a: a, b: b)
        } catch let error as DatabaseError {
            throw Self.error(error, path)
        }
    }

    /// Returns the name of the archive of a pair: the last one that was used.
    ///
    /// Earlier versions made one for each order of the folders. If both are there, the older one does not know what
    /// happened since then. It is put aside: it would bring removed files back.
    private static func choose(_ names: [String], in directory: String) -> String {
        func used(_ name: String) -> Int64? {
            ["", "-wal"].compactMap { suffix -> Int64? in
                let file = Array((directory + "/" + name + ".sqlite" + suffix).utf8)
                guard let stamp = EntryStatus(file, in: AT_FDCWD)?.stamp, stamp.size > 0 else { return nil }
                return stamp.modified
            }.max()
        }
        guard let other = used(names[1]) else { return names[0] }
        guard let first = used(names[0]) else { return names[1] }
        let (chosen, old) = first >= other ? (names[0], names[1]) : (names[1], names[0])
        for suffix in ["", "-wal", "-shm"] {
            let file = directory + "/" + old + ".sqlite" + suffix
            _ = unsafe rename(file, directory + "/" + old + ".superseded.sqlite" + suffix)
        }
        return chosen
    }

    /// Checks the archive, and makes its tables. Returns whether its sides are those of the pair in the other order.
    private static func check(_ queue: DatabaseQueue, path: String, a: String, b: String) throws -> Bool {
        try queue.writeWithoutTransaction { database in
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
            let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            if tables == 0, application == 0 {
                try database.inTransaction {
                    try ArchiveSchema.create(in: database, ["a": a, "b": b])
                    return .commit
                }
                return false
            }
            guard application == ArchiveSchema.application else {
                throw SyncError.notAnArchive(path: path, detail: "another program made it")
            }
            let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            guard version <= ArchiveSchema.version else { throw SyncError.newerArchive(path: path, version: version) }
            let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no verdict"
            guard verdict == "ok" else { throw SyncError.damagedArchive(path: path, detail: verdict) }
            let pair = try ["a", "b"].map {
                try String.fetchOne(database, sql: "SELECT value FROM setting WHERE name = ?", arguments: [$0]) ?? ""
            }
            guard pair == [a, b] || pair == [b, a] else {
                throw SyncError.notAnArchive(path: path, detail: "it belongs to \(pair[0]) and \(pair[1])")
            }
            try database.inTransaction {
                try ArchiveSchema.update(database, from: version)
                return .commit
            }
            return pair != [a, b]
        }
    }

    /// Returns all entries, in the order of the bytes of their paths.
    func entries() throws -> [ArchiveEntry] {
        let entries = try read { try EntryTable(database: $0).all() }
        return isTurned ? entries.map(\.turned) : entries
    }

    /// Returns an entry; nil if there is none.
    func entry(_ path: RelativePath) throws -> ArchiveEntry? {
        let entry = try read { try EntryTable(database: $0).entry(path) }
        return isTurned ? entry?.turned : entry
    }

    /// Reads within one transaction.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try queue.read(body)
        } catch let error as DatabaseError {
            throw Self.error(error, path)
        }
    }

    /// Writes within one transaction. It is on the disk at the return.
    func write(_ body: (Database) throws -> Void) throws {
        do {
            try queue.write(body)
        } catch let error as DatabaseError {
            throw Self.error(error, path)
        }
    }

    // MARK: Settings

    /// The inode of the root of a side at the last run; nil if it is not known.
    func inode(of side: Side) throws -> String? { try setting(inodeName(side)) }

    /// Notes the inode of the root of a side.
    func note(inode: String, of side: Side) throws { try set(inodeName(side), inode) }

    private func inodeName(_ side: Side) -> String { "inode_\((isTurned ? side.other : side).rawValue)" }

    // MARK: Loans

    /// Notes a folder whose mode changes for the moment, with the mode before.
    func noteLoan(on side: Side, _ folder: RelativePath, mode: UInt32) throws {
        let path = folder.bytes.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
        try set("\(Self.loan)\((isTurned ? side.other : side).rawValue)_\(path)", "\(mode)")
    }

    /// Returns the folders whose modes a run that was killed may not have given back.
    func loans() throws -> [(side: Side, folder: RelativePath, mode: UInt32)] {
        try read { database in
            try Row.fetchAll(
                database, sql: "SELECT name, value FROM setting WHERE name GLOB ?", arguments: [Self.loan + "*"]
            ).compactMap { row in
                let (name, value): (String, String) = (row[0], row[1])
                let parts = name.dropFirst(Self.loan.count).split(separator: "_", omittingEmptySubsequences: false)
                guard parts.count == 2, let side = Side(rawValue: String(parts[0])), let mode = UInt32(value),
                    mode <= 0o7777
                else { return nil }
                var (bytes, digits): ([UInt8], Substring) = ([], parts[1])
                while let byte = UInt8(digits.prefix(2), radix: 16) {
                    bytes.append(byte)
                    digits = digits.dropFirst(2)
                }
                return (isTurned ? side.other : side, RelativePath(bytes: bytes), mode)
            }
        }
    }

    /// Forgets all loans.
    func forgetLoans() throws {
        try write { try $0.execute(sql: "DELETE FROM setting WHERE name GLOB ?", arguments: [Self.loan + "*"]) }
    }

    private static let loan = "lent_"

    /// Returns a setting.
    private func setting(_ name: String) throws -> String? {
        try read { try String.fetchOne($0, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name]) }
    }

    /// Writes a setting.
    private func set(_ name: String, _ value: String) throws {
        try write { try $0.execute(sql: "INSERT OR REPLACE INTO setting VALUES (?, ?)", arguments: [name, value]) }
    }

    // MARK: The journal

    /// Returns the intents of a run that did not come to its end.
    func intents() throws -> [(id: Int64, intent: Intent)] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT id, record FROM intent ORDER BY id").map { row in
                let record: Data = row[1]
                var intent = try Intent(record: Array(record))
                if isTurned { intent.side = intent.side.other }
                return (row[0], intent)
            }
        }
    }

    /// Writes down what was done and what follows, at once.
    ///
    /// - Returns: The numbers of the new intents.
    func record(
        _ results: [EntryResult], ending ended: [Int64], forgetting parts: [PartialFile] = [],
        beginning new: [Intent] = []
    ) throws -> [Int64] {
        var numbers: [Int64] = []
        try write { database in
            let table = EntryTable(database: database)
            for result in results {
                switch result {
                case .write(let entry): try table.write(isTurned ? entry.turned : entry)
                case .remove(let path): try table.remove(path)
                }
            }
            let end = try database.cachedStatement(sql: "DELETE FROM intent WHERE id BETWEEN ? AND ?")
            for range in Self.ranges(of: ended) { try end.execute(arguments: [range.lowerBound, range.upperBound]) }
            for part in parts { try forget(part, in: database) }
            let begin = try database.cachedStatement(sql: "INSERT INTO intent (record) VALUES (?)")
            for intent in new {
                var intent = intent
                if isTurned { intent.side = intent.side.other }
                try begin.execute(arguments: [Data(intent.record)])
                numbers.append(database.lastInsertedRowID)
            }
        }
        return numbers
    }

    /// The intents of a batch have numbers in a row.
    private static func ranges(of numbers: [Int64]) -> [ClosedRange<Int64>] {
        var ranges: [ClosedRange<Int64>] = []
        for number in numbers.sorted() {
            if let last = ranges.last, last.upperBound == number - 1 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges
    }

    /// Returns the large files that are half written.
    func parts() throws -> [PartialFile] {
        try read { database in
            try String.fetchAll(database, sql: "SELECT record FROM part").map {
                var part = try JSONDecoder().decode(PartialFile.self, from: Data($0.utf8))
                if isTurned { part.side = part.side.other }
                return part
            }
        }
    }

    /// Writes how far a large file is.
    func note(_ part: PartialFile) throws {
        var part = part
        if isTurned { part.side = part.side.other }
        let text = String(decoding: try JSONEncoder().encode(part), as: UTF8.self)
        try write {
            try $0.execute(
                sql: "INSERT OR REPLACE INTO part VALUES (?, ?)", arguments: [Data(part.key), text])
        }
    }

    /// Forgets a large file.
    func forget(_ part: PartialFile) throws {
        try write { try forget(part, in: $0) }
    }

    private func forget(_ part: PartialFile, in database: Database) throws {
        var part = part
        if isTurned { part.side = part.side.other }
        try database.execute(sql: "DELETE FROM part WHERE temporary = ?", arguments: [Data(part.key)])
    }

    // MARK: Places

    /// The folder of the archives: `$XDG_STATE_HOME/swift-qos/sync`, below `~/.local/state` by default.
    static func defaultDirectory(_ environment: [String: String]) throws(SyncError) -> String {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/swift-qos/sync" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { throw .noPlaceForArchive }
        return home + "/.local/state/swift-qos/sync"
    }

    private static func makeFolder(_ path: String) throws(SyncError) {
        var made = ""
        for component in path.split(separator: "/") {
            made += "/" + component
            guard unsafe mkdir(made, 0o700) == 0 || errno == EEXIST || errno == EROFS || errno == EACCES else {
                throw .archive(path: made, detail: SystemError.text(errno))
            }
        }
        guard unsafe access(path, W_OK | X_OK) == 0 else {
            throw .archive(path: path, detail: SystemError.text(errno))
        }
    }

    /// A name from the pair of paths, 16 digits (FNV-1a). The archive has the paths themselves, too.
    static func name(_ a: String, _ b: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in Array(a.utf8) + [0] + Array(b.utf8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func error(_ error: DatabaseError, _ path: String) -> SyncError {
        let text = "\(error.message ?? "no message") (SQLite \(error.extendedResultCode.rawValue))"
        return switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .damagedArchive(path: path, detail: text)
        default: .archive(path: path, detail: text)
        }
    }
}

extension PartialFile {
    /// The temporary name with its side: the key of the table.
    fileprivate var key: [UInt8] { Array(side.rawValue.utf8) + path + [0] + temporary }
}
