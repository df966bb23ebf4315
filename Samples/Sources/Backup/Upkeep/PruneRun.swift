/// Removes blobs that no snapshot needs, in two phases.
///
/// First it writes what is needed of wasteful packs to new ones, and marks the old ones: no run that starts later
/// counts on a marked pack. Then it removes marked packs, but only if no other run holds a lease. Otherwise the next
/// prune does that. So a backup may run at the same time, and a kill at any moment loses nothing.
///
/// On a full disk it first removes what nobody needs, and then writes the rest again if that made room. The small files
/// that it needs have room in the reserve.
public struct PruneRun: Sendable {
    /// The result.
    public struct Report: Sendable {
        /// The number of packs that were removed.
        public internal(set) var removed = 0
        /// The bytes of those packs.
        public internal(set) var freed: Int64 = 0
        /// The number of packs that were marked, and wait for the next prune.
        public internal(set) var waiting = 0
        /// The bytes that were written again.
        public internal(set) var rewritten: Int64 = 0
        /// The bytes that no snapshot needs in packs that stay because less than a quarter of each is waste.
        public internal(set) var waste: Int64 = 0
        /// The number of packs that hold waste, and stay because the disk has no room for what is needed of them.
        public internal(set) var postponed = 0
    }

    private let repository: Repository
    /// Called between the looks at the snapshots and at the index. For tests.
    var looked: @Sendable () async throws -> Void = {}
    private var folder: RepositoryFolder { repository.folder }

    /// Makes a prune.
    public init(_ repository: Repository) {
        self.repository = repository
    }

    /// Prunes.
    ///
    /// - Parameter breathe: Called before each piece of work. It may wait, and it may throw to end the prune.
    /// - Throws: `BackupError.pruneIsRunning`; `.unsafeToPrune` if a snapshot or a blob that one needs cannot be read.
    ///   Nothing is removed then.
    public func run(breathe: () async throws -> Void = {}) async throws -> Report {
        let lease = try takeLease()
        defer { lease.release() }
        guard try !lease.others().contains(where: { $0.use == .prune }) else { throw BackupError.pruneIsRunning }
        // Again as soon as there is room for it; its absence is no failure.
        defer { try? folder.storage.makeReserve(packs: folder.files(.packs).count) }
        do {
            return try await pass(lease, rewrites: true, breathe)
        } catch BackupError.noSpace {
            try folder.storage.freeReserve()
        }
        let first = try await pass(lease, rewrites: false, breathe)
        guard first.removed > 0, first.postponed > 0 else { return first }
        do {
            var report = try await pass(lease, rewrites: true, breathe)
            report.removed += first.removed
            report.freed += first.freed
            return report
        } catch BackupError.noSpace {
            return first
        }
    }

    private func pass(_ lease: Lease, rewrites: Bool, _ breathe: () async throws -> Void) async throws -> Report {
        try await PrunePass(repository, lease, rewrites: rewrites).run(looked: looked, breathe)
    }

    private func takeLease() throws -> Lease {
        do {
            return try Lease(.prune, in: folder)
        } catch BackupError.noSpace {
            try folder.storage.freeReserve()
            return try Lease(.prune, in: folder)
        }
    }
}
