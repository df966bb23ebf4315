internal import Foundation
internal import Glibc
public import Indexing
internal import Synchronization

/// A folder, a place for an index of it beside it, and a clock that tests set.
public final class IndexWorld: Sendable {
    /// The folder that is indexed.
    public let folder: TemporaryFolder
    /// Where the index is kept, and other things that are not to be indexed.
    public let state: TemporaryFolder
    private let offset = Mutex<Int64>(10)

    /// An empty world.
    public init() throws {
        folder = try TemporaryFolder()
        state = try TemporaryFolder()
    }

    /// Seconds that the index's clock is ahead; ten make every file that was just written old enough.
    public var clockOffset: Int64 {
        get { offset.withLock { $0 } }
        set { offset.withLock { $0 = newValue } }
    }

    /// The folder of the index.
    public var directory: String { state["index"] }

    /// The database of the index.
    public var database: String { directory + "/index.sqlite" }

    /// Settings with this world's clock.
    public func settings(_ change: (inout IndexSettings) -> Void = { _ in }) -> IndexSettings {
        var settings = IndexSettings(now: { [self] in IndexSettings.systemTime() + clockOffset * 1_000_000_000 })
        // A machine that builds and tests is slow.
        settings.closePatience = .seconds(120)
        change(&settings)
        return settings
    }

    /// Opens the index.
    public func open(_ change: (inout IndexSettings) -> Void = { _ in }) throws -> SearchIndex {
        try SearchIndex(folder: folder.path, directory: directory, options: settings(change))
    }

    /// Opens the index, runs a pass and returns the index.
    public func indexed(_ change: (inout IndexSettings) -> Void = { _ in }) throws -> SearchIndex {
        let index = try open(change)
        try index.runPass()
        return index
    }

    /// Runs `body` with the rights that a user who owns nothing here has, on this thread; setfsuid(2).
    ///
    /// A user who is not root keeps the own rights.
    public func asStranger<Value>(_ body: () throws -> Value) throws -> Value {
        try folder.setMode("", 0o755)
        try state.setMode("", 0o755)
        try state.setMode("index", 0o755)
        let own = geteuid()
        guard own == 0 else { return try body() }
        try Self.setFileUser(65_534)
        defer { try? Self.setFileUser(own) }
        return try body()
    }

    /// Calls setfsuid(2), whose header the C library's module leaves out.
    private static func setFileUser(_ user: uid_t) throws {
        guard let symbol = unsafe dlsym(nil, "setfsuid") else { throw CocoaError(.featureUnsupported) }
        // SAFETY: this is its type in sys/fsuid.h.
        _ = unsafe unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> Int32).self)(user)
    }

    /// The hit sets of an index that is made from scratch now.
    public func oracle() throws -> [String: Set<String>] {
        let fresh = try TemporaryFolder()
        let index = try SearchIndex(folder: folder.path, directory: fresh["index"], options: settings())
        try index.runPass()
        defer { try? index.close() }
        return try index.hitSets()
    }

    /// The hit sets of someone who reads every file and has no index; none of the names contains a word.
    public func naiveHitSets() throws -> [String: Set<String>] {
        var sets = Dictionary(uniqueKeysWithValues: WordWorld.words.map { ($0, Set<String>()) })
        for name in try folder.files() {
            for word in try folder.read(name).split(whereSeparator: { !$0.isLetter && !$0.isNumber }) {
                sets[String(word)]?.insert(name)
            }
        }
        return sets
    }
}
