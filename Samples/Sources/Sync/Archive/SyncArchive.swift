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

    private let lock: ArchiveLock
    private let queue: DatabaseQueue

    /// Opens or makes the archive of a pair.
    ///
    /// - Parameters:
    ///   - directory: The folder of the archives. It is made if it is missing, with the rights 0700.
    ///   - a: The absolute path of A, without links.
    ///   - b: The absolute path of B, without links.
    /// - Throws: `SyncError`.
    init(in directory: String, a: String, b: String) throws {
        name = Self.name(a, b)
        path = directory + "/" + name + ".sqlite"
        try Self.makeFolder(directory)
        lock = try ArchiveLock(path: directory + "/" + name + ".lock")
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
            try Self.check(queue, path: path, a: a, b: b)
        } catch let error as DatabaseError {
            throw Self.error(error, path)
        }
    }

    private static func check(_ queue: DatabaseQueue, path: String, a: String, b: String) throws {
        try queue.writeWithoutTransaction { database in
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
            let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            if tables == 0, application == 0 {
                return try database.inTransaction {
                    try ArchiveSchema.create(in: database, ["a": a, "b": b])
                    return .commit
                }
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
            guard pair == [a, b] else {
                throw SyncError.notAnArchive(path: path, detail: "it belongs to \(pair[0]) and \(pair[1])")
            }
            try database.inTransaction {
                try ArchiveSchema.update(database, from: version)
                return .commit
            }
        }
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

    /// Returns a setting.
    func setting(_ name: String) throws -> String? {
        try read { try String.fetchOne($0, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name]) }
    }

    /// Writes a setting.
    func set(_ name: String, _ value: String) throws {
        try write { try $0.execute(sql: "INSERT OR REPLACE INTO setting VALUES (?, ?)", arguments: [name, value]) }
    }

    // MARK: The journal

    /// Returns the intents of a run that did not come to its end.
    func intents() throws -> [(id: Int64, intent: Intent)] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT id, record FROM intent ORDER BY id").map { row in
                let record: Data = row[1]
                return (row[0], try Intent(record: Array(record)))
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
                case .write(let entry): try table.write(entry)
                case .remove(let path): try table.remove(path)
                }
            }
            let end = try database.cachedStatement(sql: "DELETE FROM intent WHERE id BETWEEN ? AND ?")
            for range in Self.ranges(of: ended) { try end.execute(arguments: [range.lowerBound, range.upperBound]) }
            for part in parts { try Self.forget(part, in: database) }
            let begin = try database.cachedStatement(sql: "INSERT INTO intent (record) VALUES (?)")
            for intent in new {
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
                try JSONDecoder().decode(PartialFile.self, from: Data($0.utf8))
            }
        }
    }

    /// Writes how far a large file is.
    func note(_ part: PartialFile) throws {
        let text = String(decoding: try JSONEncoder().encode(part), as: UTF8.self)
        try write {
            try $0.execute(
                sql: "INSERT OR REPLACE INTO part VALUES (?, ?)", arguments: [Data(part.key), text])
        }
    }

    /// Forgets a large file.
    func forget(_ part: PartialFile) throws {
        try write { try Self.forget(part, in: $0) }
    }

    private static func forget(_ part: PartialFile, in database: Database) throws {
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
    private static func name(_ a: String, _ b: String) -> String {
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
