/// One pass of a prune, with the lease of the prune.
struct PrunePass {
    /// A pack with less than this share of needed bytes, in percent, is written again.
    private static let leastUsed = 75

    private let repository: Repository
    private let lease: Lease
    /// Whether what is needed of wasteful packs is written again, and the index anew. Both need room on the disk.
    private let rewrites: Bool
    private var folder: RepositoryFolder { repository.folder }

    init(_ repository: Repository, _ lease: Lease, rewrites: Bool) {
        self.repository = repository
        self.lease = lease
        self.rewrites = rewrites
    }

    /// Runs the pass.
    ///
    /// - Parameter looked: Called between the looks at the snapshots and at the index.
    /// - Throws: `BackupError.noSpace`, also of a pass that does not rewrite, if not even a mark has room.
    func run(
        looked: () async throws -> Void, _ breathe: () async throws -> Void
    ) async throws -> PruneRun.Report {
        // The snapshots first: what the index lacks of one that is written meanwhile is no damage. Such a snapshot may
        // need packs that get marks, so its packs stay until the next prune.
        let (snapshots, problems) = try repository.snapshots()
        if let problem = problems.first { throw BackupError.unsafeToPrune(detail: problem) }
        try await looked()
        let contents = try repository.contents()
        let source = BlobSource(repository, index: contents.index(withDoomed: true))
        let needed = try await needed(by: snapshots, source, breathe)

        // Phase one: copies, a new index without the marked packs, marks.
        var report = PruneRun.Report()
        var sorted = Sorted()
        for record in contents.records { sorted.add(record, isDoomed: contents.doomed.contains(record.pack), needed) }
        sorted.rescue(needed)
        if !rewrites { sorted.keepWasteful() }
        report.postponed = sorted.postponed
        report.waste = sorted.waste
        for record in sorted.rescued { try folder.remove(record.pack, from: .doomed) }
        let sink = try BlobSink(repository, known: sorted.index, unlisted: sorted.kept)
        for record in sorted.wasteful {
            try await breathe()
            for entry in record.entries where needed.contains(entry.blob) && !sink.has(entry.blob) {
                let plain = try await source.blob(entry.blob)
                _ = try await sink.store([plain])
                report.rewritten += Int64(entry.length)
            }
        }
        var isListed = try await list(sink)
        let marked = sorted.wasteful + sorted.unneeded
        for record in marked where !contents.doomed.contains(record.pack) {
            try folder.write([], to: folder.path(.doomed, record.pack), .doomed)
        }
        if isListed { try removeIndex(contents) }

        // Phase two: nobody else is there, and nobody came and went with a snapshot meanwhile. So all that counts on a
        // marked pack is known. The leases are looked at first: a backup gives its own back after its snapshot.
        guard try lease.isHeld else { throw BackupError.leaseLost }
        // Before the leases: a file that appears later may be that of a run that is not dead.
        let temporaries = try folder.storage.names(folder.path(.temporary))
        guard try lease.others().isEmpty, Set(try folder.files(.snapshots)).isSubset(of: snapshots.compactMap(\.id))
        else {
            report.waiting = marked.count
            return report
        }
        for record in marked {
            try folder.remove(record.pack, from: .packs)
            report.removed += 1
            report.freed += Int64(record.size)
        }
        for name in temporaries {
            try folder.storage.remove(folder.path(.temporary) + "/" + name, .temporary)
        }
        if !isListed {
            // Now there is room.
            isListed = try await list(sink)
            if isListed { try removeIndex(contents) }
        }
        // A mark stays as long as the index lists its pack: so that the pack is not missed.
        if isListed { try removeMarks() }
        return report
    }

    /// Writes the index. Returns false if there is no room for it, and the pass must do without.
    private func list(_ sink: BlobSink) async throws -> Bool {
        do {
            try await sink.flush()
            return true
        } catch BackupError.noSpace where !rewrites {
            return false
        }
    }

    private func removeIndex(_ contents: Repository.Contents) throws {
        for file in contents.files { try folder.remove(file, from: .index) }
    }

    /// Removes the marks of packs that are gone, also those that a killed prune left.
    private func removeMarks() throws {
        for pack in try folder.files(.doomed) where try folder.size(folder.path(.packs, pack)) == nil {
            try folder.remove(pack, from: .doomed)
        }
    }

    /// All blobs of some snapshots.
    private func needed(
        by snapshots: [Snapshot], _ source: BlobSource, _ breathe: () async throws -> Void
    ) async throws -> Set<Identifier> {
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
        /// The number of wasteful packs that stay.
        var postponed = 0
        /// The bytes of kept packs that no snapshot needs.
        var waste: Int64 = 0
        /// The blobs of kept packs.
        var index = BlobIndex()
        private var doomed: [PackRecord] = []

        mutating func add(_ record: PackRecord, isDoomed: Bool, _ needed: Set<Identifier>) {
            if isDoomed { return doomed.append(record) }
            let used = record.entries.filter { needed.contains($0.blob) }.reduce(0) { $0 + $1.length }
            let total = record.entries.reduce(0) { $0 + $1.length }
            if used == 0 {
                unneeded.append(record)
            } else if used * 100 < total * PrunePass.leastUsed {
                wasteful.append(record)
            } else {
                kept.append(record)
                index.add(record)
                waste += Int64(total - used)
            }
        }

        /// Keeps the wasteful packs as they are.
        mutating func keepWasteful() {
            postponed = wasteful.count
            kept += wasteful
            for record in wasteful { index.add(record) }
            wasteful = []
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
