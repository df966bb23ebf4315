internal import QoSCore
internal import QoSWorkloads

/// A store under a check, with short ways to use it.
struct CheckedStore: Sendable {
    let check: String
    let store: any WorkloadStore
    let reopen: @Sendable (any WorkloadStore) async throws -> any WorkloadStore

    static let start = WallTime(secondsSince1970: 1_800_000_000)

    /// The time some seconds after the start.
    func at(_ seconds: Double) -> WallTime { Self.start.advanced(by: .milliseconds(Int64(seconds * 1000))) }

    /// The same items, opened again.
    func reopened() async throws -> CheckedStore {
        CheckedStore(check: check, store: try await reopen(store), reopen: reopen)
    }

    func expect(_ holds: Bool, _ seen: @autoclosure () -> String) throws {
        if !holds { throw WorkloadStoreConformance.Failure(description: "\(check): \(seen())") }
    }

    func expectEqual<Value: Equatable>(_ seen: Value, _ expected: Value, _ what: String) throws {
        try expect(seen == expected, "\(what) is \(seen), not \(expected)")
    }

    /// Expects a refusal that fits.
    func expectRefusal(
        _ what: String, _ body: () async throws -> Void, as fits: (WorkloadStoreError) -> Bool
    ) async throws {
        do {
            try await body()
        } catch let error as WorkloadStoreError {
            try expect(fits(error), "\(what) was refused by another error: \(error)")
            return
        }
        try expect(false, "\(what) was not refused")
    }

    func expectLost(_ what: String, _ body: () async throws -> Void) async throws {
        try await expectRefusal(what, body) { if case .leaseLost = $0 { true } else { false } }
    }

    @discardableResult
    func insert(_ request: WorkloadRequest, at seconds: Double = 0) async throws -> WorkloadItemID {
        try await store.insert([request], at: at(seconds))[0].item
    }

    func claim(
        _ names: Set<WorkloadName> = ["a", "b"], classes: Set<QoSClass> = Set(QoSClass.allCases),
        host: String = "first", process: String? = nil, unmet: Set<String> = [], at seconds: Double = 0
    ) async throws -> WorkloadClaim? {
        let request = ClaimRequest(host: host, process: process, workloads: names, classes: classes) { condition in
            if case .named(let name) = condition, unmet.contains(name) { .unmet("\(name) is missing") } else { .met }
        }
        return try await store.claim(request, at: at(seconds))
    }

    /// Claims an item that must be there.
    func claimed(
        host: String = "first", process: String? = nil, at seconds: Double = 0
    ) async throws -> WorkloadClaim {
        guard let claim = try await claim(host: host, process: process, at: seconds) else {
            throw WorkloadStoreConformance.Failure(description: "\(check): nothing to claim at \(seconds) s")
        }
        return claim
    }

    func record(_ id: WorkloadItemID) async throws -> WorkloadRecord {
        guard let record = try await store.record(of: id) else {
            throw WorkloadStoreConformance.Failure(description: "\(check): \(id) is missing")
        }
        return record
    }

    func expectState(_ id: WorkloadItemID, _ state: WorkloadState) async throws {
        let record = try await record(id)
        try expect(record.state == state, "\(id) is \(record.state) (\(record.life.reason)), not \(state)")
    }

    func expectLevel(_ id: WorkloadItemID, _ level: QoSLevel) async throws {
        try expectEqual(try await record(id).level, level, "the level of \(id)")
    }

    /// Takes a lease back as it is now.
    @discardableResult
    func reclaim(
        _ lease: WorkloadLease, because loss: LeaseLoss = .expired, at seconds: Double
    ) async throws -> Bool {
        try await reclaim(try await sighting(of: lease), because: loss, at: seconds)
    }

    /// Takes a lease back as it was seen.
    @discardableResult
    func reclaim(
        _ sighting: LeaseSighting, because loss: LeaseLoss = .expired, at seconds: Double
    ) async throws -> Bool {
        try await store.reclaim(sighting, because: loss, at: at(seconds))
    }

    /// The sighting of a lease.
    func sighting(of lease: WorkloadLease) async throws -> LeaseSighting {
        guard let found = try await store.leases().first(where: { $0.lease == lease }) else {
            throw WorkloadStoreConformance.Failure(description: "\(check): \(lease) is not among the leases")
        }
        return found
    }
}
