internal import Foundation

/// Removes blobs that no snapshot needs, in two phases.
///
/// First it writes what is needed of wasteful packs to new ones, and marks the old ones: no run that starts later
/// counts on a marked pack. Then it removes marked packs, but only if no other run holds a lease. Otherwise the next
/// prune does that. So a backup may run at the same time, and a kill at any moment loses nothing.
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
    }

    /// A pack with less than this share of needed bytes, in percent, is written again.
    private static let leastUsed = 75

    private let repository: Repository

    /// Makes a prune.
    public init(_ repository: Repository) {
        self.repository = repository
    }

    /// Runs both phases.
    ///
    /// - Parameter breathe: Called before each folder and each pack. It may wait, and it may throw to end the run.
    /// - Throws: `BackupError.pruneIsRunning`; `.unsafeToPrune` if a snapshot or a blob that one needs cannot be read.
    public func run(breathe: () async throws -> Void = {}) async throws -> Report {
        let folder = repository.folder
        let lease = try Lease(.prune, in: folder)
        defer { lease.release() }
        guard try !lease.others().contains(where: { $0.use == .prune }) else { throw BackupError.pruneIsRunning }
        let contents = try repository.contents()
        let source = BlobSource(repository, index: contents.index(withDoomed: true))
        let snapshots = try folder.files(.snapshots)
        let needed = try await needed(source, breathe)

        // Phase one: copies, marks, a new index without the marked packs.
        var report = Report()
        var sorted = Sorted()
        for record in contents.records { sorted.add(record, isDoomed: contents.doomed.contains(record.pack), needed) }
        sorted.rescue(needed)
        for record in sorted.rescued { try folder.remove(folder.path(.doomed, record.pack)) }
        let sink = BlobSink(repository, known: sorted.index, unlisted: sorted.kept)
        for record in sorted.wasteful {
            try await breathe()
            for entry in record.entries where needed.contains(entry.blob) && !sink.has(entry.blob) {
                let plain = try await source.blob(entry.blob)
                _ = try await sink.store(plain)
                report.rewritten += Int64(entry.length)
            }
        }
        try await sink.flush()
        let marked = sorted.wasteful + sorted.unneeded
        for record in marked where !contents.doomed.contains(record.pack) {
            try folder.write([], to: folder.path(.doomed, record.pack))
        }
        for file in contents.files { try folder.remove(folder.path(.index, file)) }

        // Phase two: nobody else is there, and nobody came and went with a snapshot meanwhile. So all that counts on a
        // marked pack is known. The leases are looked at first: a backup gives its own back after its snapshot.
        guard lease.isHeld else { throw BackupError.leaseLost }
        guard try lease.others().isEmpty, Set(try folder.files(.snapshots)).isSubset(of: snapshots) else {
            report.waiting = marked.count
            return report
        }
        for record in marked {
            try folder.remove(folder.path(.packs, record.pack))
            try folder.remove(folder.path(.doomed, record.pack))
            report.removed += 1
            report.freed += Int64(record.size)
        }
        for name in try folder.names(folder.path(.temporary)) {
            try folder.remove(folder.path(.temporary) + "/" + name)
        }
        return report
    }

    /// All blobs of all snapshots.
    private func needed(
        _ source: BlobSource, _ breathe: () async throws -> Void
    ) async throws -> Set<Identifier> {
        let (snapshots, problems) = try repository.snapshots()
        if let problem = problems.first { throw BackupError.unsafeToPrune(detail: problem) }
        var walk = ReferenceWalk(source: source)
        for snapshot in snapshots {
            try await walk.begin(snapshot)
            while try await walk.step(breathe) {}
        }
        if let problem = walk.problems.first { throw BackupError.unsafeToPrune(detail: problem) }
        return walk.needed
    }

    /// The packs by what becomes of them.
    private struct Sorted {
        var kept: [PackRecord] = []
        var wasteful: [PackRecord] = []
        var unneeded: [PackRecord] = []
        var rescued: [PackRecord] = []
        /// The blobs of kept packs.
        var index = BlobIndex()
        private var doomed: [PackRecord] = []

        mutating func add(_ record: PackRecord, isDoomed: Bool, _ needed: Set<Identifier>) {
            if isDoomed { return doomed.append(record) }
            let used = record.entries.filter { needed.contains($0.blob) }.reduce(0) { $0 + $1.length }
            let total = record.entries.reduce(0) { $0 + $1.length }
            if used == 0 {
                unneeded.append(record)
            } else if used * 100 < total * PruneRun.leastUsed {
                wasteful.append(record)
            } else {
                kept.append(record)
                index.add(record)
            }
        }

        /// Keeps marked packs after all that have the only copy of a blob: a backup that was there before the mark
        /// needs it.
        mutating func rescue(_ needed: Set<Identifier>) {
            var elsewhere = index
            for record in wasteful { elsewhere.add(record) }
            for record in doomed {
                if record.entries.contains(where: { needed.contains($0.blob) && !elsewhere.contains($0.blob) }) {
                    rescued.append(record)
                    kept.append(record)
                    index.add(record)
                    elsewhere.add(record)
                } else {
                    unneeded.append(record)
                }
            }
        }
    }
}
