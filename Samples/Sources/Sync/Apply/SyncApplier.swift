internal import SafeFiles
internal import TreeScan

/// Does the steps of a plan. One task at a time; files are copied by child tasks, a bounded number at a time.
///
/// The order within a batch keeps each side whole after a kill or a loss of power: temporary files are written and put
/// on the disk; the journal says what follows; names change; the names are put on the disk; the archive learns it. The
/// last two steps are done with the first two of the next batch, so a batch waits for the disk twice.
final class SyncApplier {
    /// The entries and the bytes of one batch, at most. A batch of files also has a time.
    private static let batch = 4096
    private static let batchBytes: Int64 = 128 << 20

    private let plan: SyncPlan
    /// The steps of the plan. Files that somebody waits for move to the front of the other files.
    private var actions: [SyncAction]
    private let wanted: WantedFiles
    /// Wanted files that no step writes any more.
    private var notWritten: Set<RelativePath> = []
    private let ledger: StepLedger
    private let writing: FileWriting
    private let links: LinkMaking
    private let removals: Removals
    private let names: NameChanges
    private var folders: FolderMaking

    /// The number of steps that are done.
    private(set) var done = 0
    /// The number of all steps.
    var total: Int { actions.count }

    init(
        _ plan: SyncPlan, archive: SyncArchive, replicas: Pair<any Replica>, times: Pair<Int64>, parts: [PartialFile],
        unfinished: [(action: SyncAction, intent: Int64)], versions: VersionStore?, options: SyncOptions
    ) {
        self.plan = plan
        actions = plan.actions
        wanted = options.wanted
        ledger = StepLedger(
            plan, archive: archive, replicas: replicas, times: times, versions: versions, options: options)
        let copier = FileCopier(replicas: replicas, archive: archive, options: options, parts: parts)
        writing = FileWriting(ledger: ledger, copier: copier)
        links = LinkMaking(ledger: ledger, writing: writing)
        removals = Removals(ledger: ledger)
        names = NameChanges(ledger: ledger)
        folders = FolderMaking(ledger: ledger, unfinished: unfinished)
    }

    /// Does all steps.
    ///
    /// - Parameter breathe: Called before each step. It may wait, and it may throw to end the run.
    /// - Throws: `SyncError`, `CancellationError`, and the errors of `breathe`.
    func run(times: Pair<Int64>, breathe: () async throws -> Void) async throws -> SyncReport {
        defer { ledger.close() }
        try await recordAgreements(times)
        var index = 0
        var hasSettled = false
        while index < actions.count {
            if actions[index].work == .describe, !hasSettled {
                hasSettled = true
                try await folders.settleTimes()
            }
            let endOfWanted = moveWantedFiles(from: index)
            let end = endOfWanted ?? endOfBatch(from: index)
            let batch = Array(actions[index..<end])
            var count = batch.count
            for side in Side.allCases { try await ledger.replicas[side].checkIsCurrent() }
            switch batch[0].work {
            case .put:
                let (isWanted, start) = (endOfWanted != nil, index)
                let isInterrupted = { !isWanted && self.hasWantedFiles(from: start + $0) }
                count = try await writing.run(batch[...], isInterrupted: isInterrupted, breathe)
                // Somebody waits for these.
                if isWanted { try await ledger.commit() }
            case .link: try await links.run(batch, breathe)
            case .delete: try await removals.run(batch, breathe)
            case .makeFolder: try await folders.run(batch, breathe)
            case .moveAside, .rename, .setAttributes, .describe: try await names.run(batch, breathe)
            }
            done += count
            index += count
        }
        if !hasSettled { try await folders.settleTimes() }
        ledger.close()
        try await folders.finish()
        try await links.settle(plan.touchedLinks)
        return ledger.report
    }

    /// The steps of one kind that are done together.
    private func endOfBatch(from start: Int) -> Int {
        var (end, bytes) = (start, Int64(0))
        while end < actions.count, end - start < Self.batch, bytes < Self.batchBytes,
            actions[end].isLike(actions[start])
        {
            bytes = bytes.addingClamped(actions[end].source?.stamp.size ?? 0)
            end += 1
        }
        return end
    }

    /// Moves the files that somebody waits for to the front of the files that are next. They are a batch of their own.
    ///
    /// - Returns: The end of that batch; nil if there is no such file.
    private func moveWantedFiles(from start: Int) -> Int? {
        let paths = wanted.paths
        guard actions[start].work == .put, !paths.isEmpty else { return nil }
        let end = actions[start...].firstIndex { $0.work != .put } ?? actions.count
        let (first, rest) = (
            actions[start..<end].filter { paths.contains($0.path) },
            actions[start..<end].filter { !paths.contains($0.path) }
        )
        guard !first.isEmpty else { return nil }
        actions.replaceSubrange(start..<end, with: first + rest)
        return start + first.count
    }

    /// Whether one of the later files is wanted.
    private func hasWantedFiles(from start: Int) -> Bool {
        let paths = wanted.paths.subtracting(notWritten)
        guard !paths.isEmpty else { return false }
        if actions[start...].contains(where: { $0.work == .put && paths.contains($0.path) }) { return true }
        notWritten.formUnion(paths)
        return false
    }

    /// Writes what needs no step. The sides agree about it already.
    private func recordAgreements(_ times: Pair<Int64>) async throws {
        for name in plan.names {
            switch name.decision.outcome {
            case .forget: ledger.record(.remove(name.path))
            case .record:
                guard let entry = name.sides.a, let a = name.state(on: .a, at: times.a),
                    let b = name.state(on: .b, at: times.b)
                else { continue }
                ledger.record(
                    .write(
                        ArchiveEntry(
                            path: name.path, kind: entry.kind, target: entry.target, sides: Pair(a: a, b: b),
                            digest: name.digest)))
            default: break
            }
        }
        // They may have cost a look at all bytes.
        try await ledger.commit()
    }
}

extension SyncAction {
    /// Whether two steps are of one kind.
    fileprivate func isLike(_ other: SyncAction) -> Bool {
        switch (work, other.work) {
        case (.put, .put), (.delete, .delete), (.makeFolder, .makeFolder), (.describe, .describe): true
        case (.moveAside, .moveAside), (.rename, .rename), (.link, .link), (.setAttributes, .setAttributes): true
        default: false
        }
    }
}
