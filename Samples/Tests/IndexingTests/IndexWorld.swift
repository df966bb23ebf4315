import Foundation
import GRDB
import Indexing
import SampleTestSupport
import Synchronization
import Testing

/// A folder, an index of it beside it, and a clock that tests set.
final class IndexWorld {
    let folder: TemporaryFolder
    let state: TemporaryFolder
    let clock = Clock()

    /// Seconds that are added to the system's time; ten make every file that was just written old enough.
    final class Clock: Sendable {
        private let seconds = Mutex<Int64>(10)

        var offset: Int64 {
            get { seconds.withLock { $0 } }
            set { seconds.withLock { $0 = newValue } }
        }

        func now() -> Int64 {
            IndexSettings.systemTime() + offset * 1_000_000_000
        }
    }

    init() throws {
        folder = try TemporaryFolder()
        state = try TemporaryFolder()
    }

    var directory: String { state["index"] }
    var database: String { directory + "/index.sqlite" }

    func options(_ change: (inout IndexSettings) -> Void = { _ in }) -> IndexSettings {
        let clock = clock
        var options = IndexSettings(now: { clock.now() })
        change(&options)
        return options
    }

    func open(_ change: (inout IndexSettings) -> Void = { _ in }) throws -> SearchIndex {
        try SearchIndex(folder: folder.path, directory: directory, options: options(change))
    }

    /// Opens the index, runs a pass and returns the index.
    func indexed(_ change: (inout IndexSettings) -> Void = { _ in }) throws -> SearchIndex {
        let index = try open(change)
        try index.runPass()
        return index
    }

    /// The hit sets of an index that is made from scratch now.
    func oracle() throws -> [String: Set<String>] {
        let fresh = try TemporaryFolder()
        let index = try SearchIndex(folder: folder.path, directory: fresh["index"], options: options())
        try index.runPass()
        defer { try? index.close() }
        return try index.hitSets()
    }

    /// What SQLite and FTS5 say about the integrity of a database that nobody has open.
    func integrity() throws -> [String] {
        let queue = try DatabaseQueue(path: database)
        defer { try? queue.close() }
        return try queue.write { database in
            try database.execute(sql: "INSERT INTO document (document, rank) VALUES ('integrity-check', 1)")
            return try String.fetchAll(database, sql: "PRAGMA integrity_check")
        }
    }
}

extension SearchIndex {
    /// Runs a whole pass; a pause is an error.
    @discardableResult
    func runPass() throws -> PassReport {
        let pass = try makePass()
        while true {
            switch try pass.step() {
            case .progress: continue
            case .finished: return try #require(status.lastPass)
            case .paused(let reason): throw UnexpectedPause(reason: reason)
            }
        }
    }

    /// The paths that match.
    func hits(_ text: String, _ syntax: SearchSyntax = .words) throws -> Set<String> {
        Set(try search(SearchQuery(text, syntax: syntax, limit: 1000)).hits.map(\.path))
    }

    /// The paths that match each word of the vocabulary.
    func hitSets() throws -> [String: Set<String>] {
        try Dictionary(uniqueKeysWithValues: WordWorld.words.map { ($0, try hits($0)) })
    }
}

struct UnexpectedPause: Error {
    let reason: PauseReason
}
