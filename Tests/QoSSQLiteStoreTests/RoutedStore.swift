#if SQLite
import QoSCore
import QoSKernel
import QoSSQLiteStore

/// A store that sends each call to another one.
protocol RoutedStore: WorkloadStore {
    func next() throws -> any WorkloadStore
}

extension RoutedStore {
    func insert(_ requests: [WorkloadRequest], at now: WallTime) async throws -> [WorkloadInsertion] {
        try await next().insert(requests, at: now)
    }
    func addDependency(of child: WorkloadItemID, on parent: WorkloadItemID, at now: WallTime) async throws {
        try await next().addDependency(of: child, on: parent, at: now)
    }
    func exchange(_ exchange: HostExchange, at now: WallTime) async throws -> HostExchange.Answer {
        try await next().exchange(exchange, at: now)
    }
    func renew(_ leases: [WorkloadLease]) async throws -> [LeaseStanding] { try await next().renew(leases) }
    func save(_ checkpoint: [UInt8]?, _ progress: WorkloadProgress?, under lease: WorkloadLease) async throws {
        try await next().save(checkpoint, progress, under: lease)
    }
    func note(_ remark: String, under lease: WorkloadLease) async throws { try await next().note(remark, under: lease) }
    func leases() async throws -> [LeaseSighting] { try await next().leases() }
    func reclaim(_ sighting: LeaseSighting, because loss: LeaseLoss, at now: WallTime) async throws -> Bool {
        try await next().reclaim(sighting, because: loss, at: now)
    }
    func raise(_ item: WorkloadItemID, to level: QoSLevel) async throws { try await next().raise(item, to: level) }
    func awaited(_ item: WorkloadItemID, at level: QoSLevel) async throws {
        try await next().awaited(item, at: level)
    }
    func cancel(_ item: WorkloadItemID, because reason: String, at now: WallTime) async throws {
        try await next().cancel(item, because: reason, at: now)
    }
    func runNow(_ item: WorkloadItemID, at now: WallTime) async throws { try await next().runNow(item, at: now) }
    func noteFileChange(for item: WorkloadItemID, at now: WallTime) async throws {
        try await next().noteFileChange(for: item, at: now)
    }
    func setPaused(_ name: WorkloadName, because reason: String?, at now: WallTime) async throws {
        try await next().setPaused(name, because: reason, at: now)
    }
    func pauses() async throws -> [WorkloadName: String] { try await next().pauses() }
    func record(of item: WorkloadItemID) async throws -> WorkloadRecord? { try await next().record(of: item) }
    func records(matching query: WorkloadQuery) async throws -> [WorkloadRecord] {
        try await next().records(matching: query)
    }
    func nextDue() async throws -> WallTime? { try await next().nextDue() }
    func summary() async throws -> WorkloadSummary { try await next().summary() }
    func attempts(of item: WorkloadItemID) async throws -> [WorkloadAttempt] { try await next().attempts(of: item) }
    func raiseOverdue(dueBefore time: WallTime) async throws { try await next().raiseOverdue(dueBefore: time) }
    func removeEnded(before time: WallTime, in states: Set<WorkloadState>) async throws -> Int {
        try await next().removeEnded(before: time, in: states)
    }
}

/// Opens the file anew for each call.
struct ReopeningStore: RoutedStore {
    let place: StorePlace
    let watched: SQLiteStore

    init(_ place: StorePlace) throws {
        self.place = place
        watched = try place.open()
    }

    func next() throws -> any WorkloadStore { try place.open() }
    func changes() -> AsyncStream<Void> { watched.changes() }
}

/// Sends each call to the next of several stores.
final class AlternatingStore: RoutedStore {
    private let stores: [SQLiteStore]
    private let turn = Lock(0)

    init(_ stores: [SQLiteStore]) {
        self.stores = stores
    }

    func next() throws -> any WorkloadStore {
        let turn = turn.withLock { turn in
            turn = (turn + 1) % stores.count
            return turn
        }
        return stores[turn]
    }
    func changes() -> AsyncStream<Void> { stores[0].changes() }
}
#endif
