internal import Glibc
internal import SafeFiles
internal import TreeScan

/// The steps that give one side the files, links and pipes of the other: written under temporary names by child tasks,
/// then named.
struct FileWriting {
    /// The number of files that are waited for at the same time, if each is waited for alone.
    private static let waits = 8

    let ledger: StepLedger
    let copier: FileCopier

    /// Does the first of some steps, until their time is over.
    ///
    /// - Parameter isInterrupted: Whether the batch ends early, after a number of steps.
    /// - Returns: The number of steps that were done, at least one.
    func run(
        _ actions: ArraySlice<SyncAction>, isInterrupted: (_ count: Int) -> Bool,
        _ breathe: () async throws -> Void
    ) async throws -> Int {
        var prepared: [PreparedEntry] = []
        let count: Int
        do {
            count = try await prepare(actions, isInterrupted, breathe) { prepared.append($0) }
        } catch {
            await discard(prepared)
            throw error
        }
        try await publish(prepared)
        return count
    }

    /// Gives finished entries their names, after all of them are on the disk.
    func publish(_ prepared: [PreparedEntry]) async throws {
        let numbers: [Int64]
        do {
            for entry in prepared where !entry.isDurable {
                ledger.noteChanges(on: entry.action.side) { $0.hasMore = true }
            }
            try await ledger.flush()
            ledger.options.reached(.synchronized)
            numbers = try await ledger.begin(prepared.map(\.intent))
        } catch {
            await discard(prepared)
            throw error
        }
        ledger.options.reached(.intended)
        var ended: [Int64] = []
        for (entry, number) in zip(prepared, numbers) {
            var isLeft = false
            try await ledger.attempt(entry.action) { try await publish(entry, leaving: &isLeft) }
            // The next run finds the version that is left by its intent. Without one it would be a leftover.
            if !isLeft { ended.append(number) }
        }
        ledger.end(intents: ended)
        for entry in prepared { if let part = entry.part { ledger.end(part: part) } }
    }

    /// Removes temporary files. A large file stays as far as it is on the disk: the next run goes on there.
    private func discard(_ prepared: [PreparedEntry]) async {
        for entry in prepared where entry.part == nil {
            try? await ledger.folder(of: entry.action.path, on: entry.action.side).discard(entry.temporary)
        }
    }

    private func prepare(
        _ actions: ArraySlice<SyncAction>, _ isInterrupted: (Int) -> Bool, _ breathe: () async throws -> Void,
        _ add: (PreparedEntry) -> Void
    ) async throws -> Int {
        let (copier, others) = (copier, ledger.options.disk.unwrittenBytes())
        let end = ContinuousClock.now + ledger.options.longestBatch
        func isAlone(on side: Side) -> Bool {
            ledger.replicas[side] is LocalReplica
                && !SyncChoice.isOneWaitBetter(for: actions.count { $0.side == side }, others: others)
        }
        let areAlone = Pair(a: isAlone(on: .a), b: isAlone(on: .b))
        return try await withThrowingTaskGroup(of: [FileCopier.Preparation].self) { group in
            var (underWay, index) = (0, actions.startIndex)
            func take() async throws {
                guard let results = try await group.next() else { return }
                underWay -= 1
                var failure: (any Error)?
                for (action, result) in results {
                    switch result {
                    case .success(.prepared(let entry)): add(entry)
                    case .success(.skipped(let reason)): ledger.noteFailure(action, reason)
                    case .failure(let error): failure = error
                    }
                }
                if let failure { throw failure }
            }
            do {
                while index < actions.endIndex {
                    let count = index - actions.startIndex
                    guard count == 0 || (ContinuousClock.now < end && !isInterrupted(count)) else { break }
                    let isAlone = areAlone[actions[index].side]
                    // Waits for single files are worth more tasks: they share commits of the file system's journal.
                    let width = isAlone ? max(ledger.options.width, Self.waits) : ledger.options.width
                    let run = actions[index..<(isAlone ? index + 1 : endOfRun(in: actions[index...]))]
                    var ready: [SyncAction] = []
                    for action in run {
                        try await breathe()
                        if !ledger.isBlocked(action) { ready.append(action) }
                    }
                    index = run.endIndex
                    guard !ready.isEmpty else { continue }
                    var folder: (any ReplicaFolder)?
                    for action in ready where folder == nil {
                        try await ledger.attempt(action) {
                            folder = try await ledger.folder(of: action.path, on: action.side)
                        }
                    }
                    guard let folder else { continue }
                    if underWay >= width { try await take() }
                    underWay += 1
                    let entries = ready
                    group.addTask { await copier.prepare(entries, in: folder, isAlone: isAlone) }
                }
                while underWay > 0 { try await take() }
                return index - actions.startIndex
            } catch {
                group.cancelAll()
                while case .success(let results)? = await group.nextResult() {
                    for case (_, .success(.prepared(let entry))) in results { add(entry) }
                }
                throw error
            }
        }
    }

    /// The end of the first steps that are done together: small files of one folder, or a single entry.
    private func endOfRun(in actions: ArraySlice<SyncAction>) -> Int {
        guard let first = actions.first, SmallFiles.contains(first, ledger.options) else {
            return actions.startIndex + 1
        }
        let folder = first.path.parent
        var (end, bytes) = (actions.startIndex, Int64(0))
        while end < actions.endIndex, end - actions.startIndex < SmallFiles.limit.files,
            SmallFiles.contains(actions[end], ledger.options), actions[end].side == first.side,
            actions[end].path.isEntry(of: folder)
        {
            bytes = bytes.addingClamped(actions[end].source?.stamp.size ?? 0)
            guard bytes <= SmallFiles.limit.bytes else { break }
            end += 1
        }
        return max(end, actions.startIndex + 1)
    }

    /// Gives a finished entry its name, after a last look at what has it.
    ///
    /// - Parameter isLeft: Set if a failure leaves another entry than the new one under the temporary name.
    private func publish(_ entry: PreparedEntry, leaving isLeft: inout Bool) async throws {
        let folder = try await ledger.folder(of: entry.action.path, on: entry.action.side)
        let (name, temporary) = (entry.name, entry.temporary)
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
            isLeft = true
            let left = try await folder.status(temporary)
            let isNew = left?.stamp.inode == entry.written.inode
            if isNew { await folder.discard(temporary) }
            isLeft = left != nil && !isNew
            throw failure
        }
        ledger.options.reached(.replaced)
        guard let status = try await folder.status(name) else { throw folder.failure("stat", name, ENOENT) }
        let source = entry.action.source
        ledger.finish(
            entry.action, kind: source?.kind, target: source?.target ?? [], now: entry.written.named(status),
            source: entry.source, digest: entry.digest)
        ledger.options.wanted.noteWritten(entry.action.path)
        guard !entry.action.isLink else {
            ledger.report.linked = (ledger.report.linked ?? 0) + 1
            return
        }
        ledger.report.copied += 1
        ledger.noteLost(entry.lost, of: entry.action)
        ledger.report.bytes = ledger.report.bytes.addingClamped(entry.bytes)
        ledger.report.reusedBytes += entry.reused
        ledger.report.resumedBytes += entry.resumed
    }

    /// Removes the entry that left its name. If it is not the one that was seen, it stays under a name of its own.
    private func dismiss(
        _ old: Observation, under temporary: [UInt8], in folder: any ReplicaFolder, _ action: SyncAction
    ) async throws {
        guard let status = try await folder.status(temporary) else { return }
        if old.isSame(as: status) {
            do {
                try await ledger.dismiss(temporary, of: action.path, on: action.side, in: folder)
            } catch let failure as FileSystemFailure {
                // The new version has the name already. The old one must not be lost without its place.
                let name = try await Rescue.keep(
                    temporary, of: action.path, on: action.side, in: folder, date: ledger.options.date)
                ledger.report.skipped.append("\(action.path.display): the old version is now \(name): \(failure)")
            }
        } else {
            let name = try await Rescue.keep(
                temporary, of: action.path, on: action.side, in: folder, date: ledger.options.date)
            ledger.report.conflicts.append(
                "\(action.path.display): it changed at the last moment; that version is now \(name)")
        }
    }
}

extension RelativePath {
    /// Whether this is the path of an entry in a folder.
    fileprivate func isEntry(of folder: RelativePath) -> Bool {
        let length = bytes.count - name.count
        return length == (folder == .root ? 0 : folder.bytes.count + 1) && bytes.starts(with: folder.bytes)
    }
}
