#if SQLite
internal import FoundationEssentials
internal import QoSKernel
public import QoSCore
public import QoSWorkloads

/// A store of workloads in an SQLite file, for one machine. Several processes may share it.
///
/// ```swift
/// let store = try SQLiteStore(at: "/var/lib/photos/work.sqlite")
/// let host = try WorkloadHost(store: store, scheduler: scheduler, workloads: [Thumbnails()])
/// ```
///
/// Each call is part of a transaction. Concurrent calls share one, and each returns after its commit. A call blocks a
/// worker of the caller's class, never a thread of the caller's actor. Heartbeats go first.
///
/// If the file is removed while the store is open, the next call that writes makes it again, with all its content. So
/// it does with the folder of the file. If the path names another store by then, the calls go on with that one.
///
/// Calls throw `WorkloadStoreError` for a refused request, and ``SQLiteStoreError`` for a failure of the file.
///
/// Threading: any thread.
public final class SQLiteStore: WorkloadStore {
    /// The path of the file.
    public let path: String

    private let open: OpenStore
    private let committer: Committer
    private let notices: ChangeNotices
    private let requests = Lock(RequestCache())

    /// Opens the file of a store, and makes it if it is missing. Blocks the thread.
    ///
    /// The file, its companions `-wal`, `-shm` and `-notice` belong together. All have mode 0600 if they are new.
    ///
    /// - Throws: ``SQLiteStoreError``. A file that is no store does not change.
    public init(at path: String, configuration: SQLiteStoreConfiguration = SQLiteStoreConfiguration())
        throws(SQLiteStoreError)
    {
        let file = StoreFile(path: path, settings: configuration)
        self.path = path
        let notices = Lock<ChangeNotices?>(nil)
        open = try OpenStore(file) { notices.withLock { $0 }?.reopen() }
        let made = ChangeNotices(besides: path, configuration)
        notices.withLock { $0 = made }
        self.notices = made
        committer = Committer(open) { made.notify() }
    }

    deinit {
        notices.end()
        try? open.close()
    }

    /// Closes the file. Later calls throw ``SQLiteStoreError/closed(path:)``, and the streams of ``changes()`` end.
    public func close() throws {
        notices.end()
        try open.close()
    }

    // MARK: Insertion

    /// Inserts items.
    public func insert(_ requests: [WorkloadRequest], at now: WallTime) async throws -> [WorkloadInsertion] {
        try await committer.perform("insert") { try $0.inserted(requests, at: now) }
    }

    /// Adds a dependency.
    public func addDependency(of child: WorkloadItemID, on parent: WorkloadItemID, at now: WallTime) async throws {
        try await committer.perform("addDependency") { try $0.dependencyAdded(of: child, on: parent, at: now) }
    }

    // MARK: Attempts

    /// Ends attempts, and claims items.
    ///
    /// A loss of power may take back claims that no later call has followed. The items then have no leases, as before.
    public func exchange(_ exchange: HostExchange, at now: WallTime) async throws -> HostExchange.Answer {
        if exchange.ends.isEmpty, exchange.claim == nil {
            // Nothing to write, so it waits for no transaction.
            return try await committer.read { rows in
                var answer = HostExchange.Answer(mark: exchange.mark ?? .fresh())
                answer.standings = try rows.standings(of: exchange.leases)
                answer.nextDue = try rows.nextDue()
                return answer
            }
        }
        return try await committer.perform("exchange", isSynced: !exchange.ends.isEmpty) {
            try $0.exchanged(exchange, at: now)
        }
    }

    /// Renews leases.
    public func renew(_ leases: [WorkloadLease]) async throws -> [LeaseStanding] {
        try await committer.perform("renew", isHeartbeat: true, isSynced: false) { try $0.renewed(leases) }
    }

    /// Keeps a checkpoint.
    public func save(
        _ checkpoint: [UInt8]?, _ progress: WorkloadProgress?, under lease: WorkloadLease
    ) async throws {
        // A progress alone is for people.
        try await committer.perform("save", isSynced: checkpoint != nil) {
            try $0.saved(checkpoint, progress, under: lease)
        }
    }

    /// Keeps a remark.
    public func note(_ remark: String, under lease: WorkloadLease) async throws {
        try await committer.perform("note", isSynced: false) { try $0.noted(remark, under: lease) }
    }

    /// Returns the valid leases.
    public func leases() async throws -> [LeaseSighting] { try await committer.read { try $0.leases() } }

    /// Takes a lease back.
    @discardableResult
    public func reclaim(_ sighting: LeaseSighting, because loss: LeaseLoss, at now: WallTime) async throws -> Bool {
        try await committer.perform("reclaim") { try $0.leaseLost(sighting, because: loss, at: now) }
    }

    // MARK: Control

    /// Raises an item.
    public func raise(_ item: WorkloadItemID, to level: QoSLevel) async throws {
        try await committer.perform("raise") { try $0.raised(item, to: level) }
    }

    /// Raises an awaited item.
    public func awaited(_ item: WorkloadItemID, at level: QoSLevel) async throws {
        try await committer.perform("awaited") { try $0.awaited(item, at: level) }
    }

    /// Cancels an item.
    public func cancel(_ item: WorkloadItemID, because reason: String, at now: WallTime) async throws {
        try await committer.perform("cancel") { try $0.cancelled(item, because: reason, at: now) }
    }

    /// Makes an item due.
    public func runNow(_ item: WorkloadItemID, at now: WallTime) async throws {
        try await committer.perform("runNow") { try $0.runRequested(item, at: now) }
    }

    /// Notes a file event.
    public func noteFileChange(for item: WorkloadItemID, at now: WallTime) async throws {
        try await committer.perform("noteFileChange") { try $0.fileChanged(for: item, at: now) }
    }

    /// Pauses or resumes a workload.
    public func setPaused(_ name: WorkloadName, because reason: String?, at now: WallTime) async throws {
        try await committer.perform("setPaused") { try $0.paused(name, because: reason, at: now) }
    }

    /// Removes ended items.
    @discardableResult
    public func removeEnded(before time: WallTime, in states: Set<WorkloadState>) async throws -> Int {
        var count = 0
        while true {
            // One long transaction would hold up heartbeats.
            let step = try await committer.perform("removeEnded") { try $0.endedRemoved(before: time, in: states) }
            count += step.count
            if !step.hasMore { return count }
        }
    }

    /// Raises items that have been due for long.
    public func raiseOverdue(dueBefore time: WallTime) async throws {
        try await committer.perform("raiseOverdue", isSynced: false) { try $0.overdueRaised(dueBefore: time) }
    }

    // MARK: Looking at it

    /// Counts the items, in a time that does not grow with their number.
    public func summary() async throws -> WorkloadSummary { try await committer.read { try $0.summary() } }

    /// Returns failed attempts.
    public func attempts(of item: WorkloadItemID) async throws -> [WorkloadAttempt] {
        try await committer.read { try $0.attempts(of: item) }
    }

    /// Returns the paused workloads.
    public func pauses() async throws -> [WorkloadName: String] {
        try await committer.read { try $0.holds().mapValues(\.reason) }
    }

    /// Returns an item.
    public func record(of item: WorkloadItemID) async throws -> WorkloadRecord? {
        try await read { try $0.record(item, &$1) }
    }

    /// Returns a selection of items.
    public func records(matching query: WorkloadQuery) async throws -> [WorkloadRecord] {
        try await read { try $0.records(matching: query, &$1) }
    }

    /// Returns the next due time.
    public func nextDue() async throws -> WallTime? { try await committer.read { try $0.nextDue() } }

    /// Returns a stream of hints. Changes of other processes give one, too.
    public func changes() -> AsyncStream<Void> { notices.changes() }

    /// The reason why changes of other processes give late hints; `nil` if they give one at once.
    public var lateHints: LateHints? { notices.lateHints }

    /// Lets the file be no larger than this, so that tests see a full disk. Pages of 4096 bytes.
    package func setPageLimit(_ pages: Int) async throws {
        try await committer.perform("limit") { try $0.rows.execute("PRAGMA max_page_count = \(pages)") }
    }

    private func read<Success: Sendable>(
        _ body: @escaping @Sendable (StoreRows, inout RequestCache) throws -> Success
    ) async throws -> Success {
        try await committer.read { [self] rows in
            var cache = requests.withLock { $0 }
            defer { requests.withLock { [cache] in $0 = cache } }
            return try body(rows, &cache)
        }
    }
}
#endif
