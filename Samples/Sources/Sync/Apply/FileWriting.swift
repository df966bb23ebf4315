internal import Glibc
internal import SafeFiles
internal import TreeScan

/// The steps that give one side the files, links and pipes of the other: written under temporary names by child tasks,
/// then named.
struct FileWriting {
    let ledger: StepLedger
    let copier: FileCopier

    func run(_ actions: [SyncAction], _ breathe: () async throws -> Void) async throws {
        var prepared: [PreparedEntry] = []
        do {
            try await prepare(actions, breathe) { prepared.append($0) }
            for side in Side.allCases {
                let own = prepared.filter { $0.action.side == side }
                try await ledger.synchronize(own, on: side) { $0.file?.synchronize() ?? 0 }
            }
            ledger.options.reached(.synchronized)
            try ledger.begin(prepared.map(\.intent))
        } catch {
            // A large file stays as far as it is on the disk: the next run goes on there.
            for entry in prepared where entry.part == nil { await entry.folder.discard(entry.temporary) }
            throw error
        }
        ledger.options.reached(.intended)
        for entry in prepared { try await ledger.attempt(entry.action) { try await publish(entry) } }
        try await ledger.flushNames()
        try ledger.commit()
        for entry in prepared { if let part = entry.part { try ledger.archive.forget(part) } }
    }

    private func prepare(
        _ actions: [SyncAction], _ breathe: () async throws -> Void, _ add: (PreparedEntry) -> Void
    ) async throws {
        let copier = copier
        try await withThrowingTaskGroup(of: (SyncAction, FileCopier.Outcome).self) { group in
            var underWay = 0
            func take() async throws {
                guard let (action, outcome) = try await group.next() else { return }
                underWay -= 1
                switch outcome {
                case .prepared(let entry): add(entry)
                case .skipped(let reason): ledger.noteFailure(action, reason)
                }
            }
            do {
                for action in actions {
                    try await breathe()
                    guard !ledger.isBlocked(action) else { continue }
                    var folder: (any ReplicaFolder)?
                    try await ledger.attempt(action) {
                        folder = try await ledger.folder(of: action.path, on: action.side)
                    }
                    guard let folder else { continue }
                    if underWay >= ledger.options.width { try await take() }
                    underWay += 1
                    group.addTask { (action, try await copier.prepare(action, in: folder)) }
                }
                while underWay > 0 { try await take() }
            } catch {
                group.cancelAll()
                while let result = await group.nextResult() {
                    if case .success((_, .prepared(let entry))) = result { add(entry) }
                }
                throw error
            }
        }
    }

    /// Gives a finished entry its name, after a last look at what has it.
    private func publish(_ entry: PreparedEntry) async throws {
        let (folder, name, temporary) = (entry.folder, entry.name, entry.temporary)
        ledger.noteNames(in: folder, on: entry.action.side)
        do {
            if let old = entry.action.old {
                switch try await folder.exchange(temporary, with: name, ifStill: old) {
                case .refused:
                    await folder.discard(temporary)
                    return ledger.skip(entry.action, "it changed during the run; the next run looks again")
                case .exchanged:
                    ledger.options.reached(.exchanged)
                    try await dismiss(old, under: temporary, in: folder, entry.action)
                case .replaced: break
                }
            } else {
                try await folder.rename(temporary, to: name, in: folder)
                ledger.options.reached(.exchanged)
            }
        } catch let failure as FileSystemFailure {
            let left = try await folder.status(temporary)
            if left?.stamp.inode == entry.written.inode { await folder.discard(temporary) }
            throw failure
        }
        ledger.options.reached(.replaced)
        guard let status = try await folder.status(name) else { throw folder.failure("stat", name, ENOENT) }
        let source = entry.action.source
        ledger.finish(
            entry.action, kind: source?.kind, target: source?.target ?? [], now: entry.written.named(status),
            source: entry.source, digest: entry.digest)
        ledger.options.wanted.noteWritten(entry.action.path)
        ledger.report.copied += 1
        ledger.report.bytes += entry.bytes
        ledger.report.reusedBytes += entry.reused
        ledger.report.resumedBytes += entry.resumed
    }

    /// Removes the entry that left its name. If it is not the one that was seen, it stays under a name of its own.
    private func dismiss(
        _ old: Observation, under temporary: [UInt8], in folder: any ReplicaFolder, _ action: SyncAction
    ) async throws {
        guard let status = try await folder.status(temporary) else { return }
        if old.isSame(as: status) {
            try await folder.remove(temporary, isFolder: false)
        } else {
            let name = try await Rescue.keep(
                temporary, of: action.path, on: action.side, in: folder, date: ledger.options.date)
            ledger.report.conflicts.append(
                "\(action.path.display): it changed at the last moment; that version is now \(name)")
        }
    }
}
