public import QoSWorkloads

/// Checks that a store keeps the promises of `WorkloadStore`. Any store passes them, whatever it is made of.
///
/// ```swift
/// @Test(arguments: WorkloadStoreConformance.checks)
/// func conformance(check: WorkloadStoreConformance.Check) async throws {
///     try await WorkloadStoreConformance { InMemoryWorkloadStore() }.run(check)
/// }
/// ```
///
/// Time is passed to the store, so the checks take no time of their own.
public struct WorkloadStoreConformance: Sendable {
    /// One check, with a sentence as its name.
    public struct Check: Sendable, CustomStringConvertible {
        /// The promise.
        public let description: String

        let body: @Sendable (CheckedStore) async throws -> Void
    }

    /// A promise that a store did not keep.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The promise, and what was seen instead.
        public let description: String
    }

    private let makeStore: @Sendable () async throws -> any WorkloadStore
    private let reopen: @Sendable (any WorkloadStore) async throws -> any WorkloadStore

    /// Makes the checks of a store.
    ///
    /// - Parameters:
    ///   - makeStore: makes an empty store.
    ///   - reopen: opens the same items a second time, as another process or the next start would. A store in memory
    ///     returns itself.
    public init(
        reopen: @escaping @Sendable (any WorkloadStore) async throws -> any WorkloadStore = { $0 },
        makeStore: @escaping @Sendable () async throws -> any WorkloadStore
    ) {
        self.makeStore = makeStore
        self.reopen = reopen
    }

    /// All checks.
    public static let checks: [Check] =
        insertionChecks + keyChecks + orderChecks + exchangeChecks + leaseChecks + crashChecks + lifeChecks
        + promotionChecks + limitChecks + timeChecks

    /// Runs a check on a store of its own.
    ///
    /// - Throws: ``Failure``, and errors of the store.
    public func run(_ check: Check) async throws {
        let store = try await makeStore()
        try await check.body(CheckedStore(check: check.description, store: store, reopen: reopen))
    }

    /// Runs all checks, each on a store of its own.
    ///
    /// - Throws: the first failure.
    public func runAll() async throws {
        for check in Self.checks { try await run(check) }
    }
}
