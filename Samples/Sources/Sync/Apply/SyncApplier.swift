internal import GRDB
internal import Glibc
internal import TreeScan

/// Does the steps of a plan. One task at a time; files are copied by child tasks, a bounded number at a time.
///
/// The order within a batch keeps each side whole after a kill or a loss of power: temporary files are written and put
/// on the disk; the journal says what follows; names change; the names are put on the disk; the archive learns it.
final class SyncApplier {
    /// The entries and the bytes of one batch.
    private static let batch = 512
    private static let batchBytes: Int64 = 128 << 20
    /// From this number of files on, one syncfs(2) is cheaper than one fsync(2) for each.
    private static let fewFiles = 16

    private let archive: SyncArchive
    private let replicas: Pair<Replica>
    private let plan: SyncPlan
    private let options: SyncOptions
    private let copier: FileCopier
    private var progress: EntryProgress
    private var report: SyncReport
    private var results: [EntryProgress.Result] = []
    private var intents: [Int64] = []
    private var madeFolders: [(action: SyncAction, intent: Int64)]
    private var touched: Pair<Set<RelativePath>> = Pair(a: [], b: [])
    private var openFolder: ReplicaFolder?
    private var openSide = Side.a

    /// The number of steps that are done.
    private(set) var done = 0

    init(
        _ plan: SyncPlan, archive: SyncArchive, replicas: Pair<Replica>, times: Pair<Int64>, parts: [PartialFile],
        unfinished: [(action: SyncAction, intent: Int64)], options: SyncOptions
    ) {
        madeFolders = unfinished
        self.plan = plan
        self.archive = archive
        self.replicas = replicas
        self.options = options
        for (action, _) in unfinished { touched[action.side].insert(action.path) }
        copier = FileCopier(replicas: replicas, archive: archive, options: options, parts: parts)
        progress = EntryProgress(plan, times: times)
        report = SyncReport()
        report.unchanged = plan.unchanged
        report.skipped = plan.skipped
        for name in plan.names where name.decision.isConflict {
            let to = name.otherName.map { "; one version is now \($0.display)" } ?? ""
            let reason = name.decision.reason.replacing("conflict: ", with: "", maxReplacements: 1)
            report.conflicts.append("\(name.path.display): \(reason)\(to)")
        }
    }

    /// Does all steps.
    ///
    /// - Parameter breathe: Called before each step. It may wait, and it may throw to end the run.
    /// - Throws: `SyncError`, `CancellationError`, and the errors of `breathe`.
    func run(times: Pair<Int64>, breathe: () async throws -> Void) async throws -> SyncReport {
        try recordAgreements(times)
        var index = 0
        var hasSettled = false
        while index < plan.actions.count {
            if plan.actions[index].work == .describe, !hasSettled {
                hasSettled = true
                try flushNames()
                settleFolderTimes()
            }
            let end = endOfBatch(from: index)
            let actions = Array(plan.actions[index..<end])
            try checkRoots()
            switch actions[0].work {
            case .put: try await put(actions, breathe)
            case .delete: try await delete(actions, breathe)
            case .makeFolder: try await makeFolders(actions, breathe)
            case .moveAside, .rename, .describe:
                for action in actions {
                    try await breathe()
                    guard !progress.isBlocked(action) else { continue }
                    try attempt(action) { try change(action) }
                }
                try flushNames()
                try commit()
            }
            done += actions.count
            index = end
        }
        if !hasSettled { settleFolderTimes() }
        try finishFolders()
        return report
    }

    /// The steps of one kind that are done together.
    private func endOfBatch(from start: Int) -> Int {
        var (end, bytes) = (start, Int64(0))
        while end < plan.actions.count, end - start < Self.batch, bytes < Self.batchBytes,
            plan.actions[end].isLike(plan.actions[start])
        {
            bytes += plan.actions[end].source?.stamp.size ?? 0
            end += 1
        }
        return end
    }

    private func checkRoots() throws(SyncError) {
        for side in Side.allCases where !replicas[side].root.isCurrent {
            throw .replaced(side, path: replicas[side].root.path)
        }
    }

    /// Runs a step. A failure of one entry is noted, and the others go on.
    private func attempt(_ action: SyncAction, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let failure as FileSystemFailure {
            try FileCopier.check(failure, action.side)
            let isTaken = failure.code == EEXIST
            skip(action, isTaken ? "the name was taken during the run; the next run decides" : "\(failure)")
        }
    }

    private func skip(_ action: SyncAction, _ reason: String) {
        progress.failed(action)
        report.skipped.append("\(replicas[action.side].display(action.subject)): \(reason)")
    }

    /// The folder of an entry. The last one stays open, as the next entry is most often in it, too.
    private func folder(of path: RelativePath, on side: Side) throws(FileSystemFailure) -> ReplicaFolder {
        let parent = path.ancestors.first ?? .root
        touched[side].insert(parent)
        if let openFolder, openSide == side, openFolder.path == parent { return openFolder }
        let folder = try replicas[side].folder(parent)
        (openFolder, openSide) = (folder, side)
        return folder
    }

    // MARK: The archive

    /// Writes what needs no step. The sides agree about it already.
    private func recordAgreements(_ times: Pair<Int64>) throws {
        for name in plan.names {
            switch name.decision.outcome {
            case .forget: results.append(.remove(name.path))
            case .record:
                guard let a = name.sides.a, let b = name.sides.b else { continue }
                results.append(
                    .write(
                        ArchiveEntry(
                            path: name.path, kind: a.kind, target: a.target,
                            sides: Pair(
                                a: ArchiveEntry.SideState(a, at: times.a), b: ArchiveEntry.SideState(b, at: times.b)))))
            default: break
            }
        }
        try commit()
    }

    /// Writes down what is done, and ends its intents.
    private func commit() throws {
        guard !results.isEmpty || !intents.isEmpty else { return }
        try archive.write { database in
            let table = EntryTable(database: database)
            for result in results {
                switch result {
                case .write(let entry): try table.write(entry)
                case .remove(let path): try table.remove(path)
                }
            }
            for number in intents { try SyncArchive.end(number, in: database) }
        }
        results = []
        intents = []
        options.reached(.recorded)
    }

    private func note(_ result: EntryProgress.Result?) {
        if let result { results.append(result) }
    }

    private var changedFolders: [(Side, ReplicaFolder)] = []

    /// Puts the changed names on the disk.
    private func flushNames() throws {
        for side in Side.allCases {
            let folders = changedFolders.filter { $0.0 == side }.map(\.1)
            let distinct = Dictionary(folders.map { ($0.path, $0) }) { first, _ in first }
            if distinct.count >= Self.fewFiles {
                try replicas[side].synchronize()
            } else {
                for folder in distinct.values {
                    let code = folder.synchronizeNames()
                    guard code == 0 else { throw SyncError.notWritten(side, code: code) }
                }
            }
        }
        changedFolders = []
    }

    // MARK: New and changed files

    private func put(_ actions: [SyncAction], _ breathe: () async throws -> Void) async throws {
        var prepared: [PreparedEntry] = []
        do {
            try await prepare(actions, breathe) { prepared.append($0) }
            try synchronize(prepared)
            options.reached(.synchronized)
            intents += try archive.begin(prepared.map(\.intent))
        } catch {
            // A large file stays as far as it is on the disk: the next run goes on there.
            for entry in prepared where entry.part == nil { entry.folder.discard(entry.temporary) }
            throw error
        }
        options.reached(.intended)
        for entry in prepared { try attempt(entry.action) { try publish(entry) } }
        try flushNames()
        try commit()
        for entry in prepared { if let part = entry.part { try archive.forget(part) } }
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
                case .skipped(let reason):
                    progress.failed(action)
                    report.skipped.append(reason)
                }
            }
            do {
                for action in actions {
                    try await breathe()
                    guard !progress.isBlocked(action) else { continue }
                    var folder: ReplicaFolder?
                    try attempt(action) { folder = try self.folder(of: action.path, on: action.side) }
                    guard let folder else { continue }
                    if underWay >= options.width { try await take() }
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

    private func synchronize(_ entries: [PreparedEntry]) throws {
        for side in Side.allCases {
            let own = entries.filter { $0.action.side == side }
            if own.count >= Self.fewFiles {
                try replicas[side].synchronize()
                continue
            }
            for entry in own {
                let code = entry.file?.synchronize() ?? 0
                guard code == 0 else { throw SyncError.notWritten(side, code: code) }
            }
        }
    }

    /// Gives a finished entry its name, after a last look at what has it.
    private func publish(_ entry: PreparedEntry) throws {
        let (folder, name, temporary) = (entry.folder, entry.name, entry.temporary)
        changedFolders.append((entry.action.side, folder))
        do {
            if let old = entry.action.old {
                guard let status = try folder.status(name), old.isSame(as: status) else {
                    folder.discard(temporary)
                    return skip(entry.action, "it changed during the run; the next run looks again")
                }
                if try folder.exchange(temporary, with: name) {
                    options.reached(.exchanged)
                    try dismiss(old, under: temporary, in: folder, entry.action)
                }
            } else {
                try folder.rename(temporary, to: name, in: folder)
                options.reached(.exchanged)
            }
        } catch let failure as FileSystemFailure {
            if try folder.status(temporary)?.stamp.inode == entry.written.inode { folder.discard(temporary) }
            throw failure
        }
        options.reached(.replaced)
        guard let status = try folder.status(name) else { throw folder.failure("stat", name, ENOENT) }
        var state = entry.written
        // A write in this very moment is one of the user. It is found next time.
        state.changed = status.stamp.inode == state.inode && status.stamp.size == state.size ? status.stamp.changed : 0
        let source = entry.action.source
        note(
            progress.done(
                entry.action, kind: source?.kind, target: source?.target ?? [], now: state, source: entry.source))
        report.copied += 1
        report.bytes += entry.bytes
        report.reusedBytes += entry.reused
        report.resumedBytes += entry.resumed
    }

    /// Removes the entry that left its name. If it is not the one that was seen, it stays under a name of its own.
    private func dismiss(
        _ old: Observation, under temporary: [UInt8], in folder: ReplicaFolder, _ action: SyncAction
    ) throws {
        guard let status = try folder.status(temporary) else { return }
        if old.isSame(as: status) {
            try folder.remove(temporary, isFolder: false)
        } else {
            let name = try Rescue.keep(temporary, of: action.path, on: action.side, in: folder, date: options.date)
            report.conflicts.append(
                "\(action.path.display): it changed at the last moment; that version is now \(name)")
        }
    }

    // MARK: Removals

    private func delete(_ actions: [SyncAction], _ breathe: () async throws -> Void) async throws {
        var steps: [(action: SyncAction, folder: ReplicaFolder, temporary: [UInt8])] = []
        for action in actions {
            try await breathe()
            guard !progress.isBlocked(action) else { continue }
            try attempt(action) {
                let folder = try folder(of: action.path, on: action.side)
                guard let old = action.old, let status = try folder.status(Array(action.path.name)),
                    old.isSame(as: status)
                else { return skip(action, "it changed during the run, and stays; the next run looks again") }
                steps.append((action, folder, replicas[action.side].temporaryName()))
            }
        }
        intents += try archive.begin(
            steps.filter { $0.action.old?.kind != .directory }.map { step in
                var intent = Intent(work: .delete, side: step.action.side, path: step.action.path.bytes)
                intent.temporary = step.temporary
                intent.setOld(step.action.old)
                return intent
            })
        for step in steps { try attempt(step.action) { try remove(step.action, step.folder, step.temporary) } }
        try flushNames()
        try commit()
    }

    private func remove(_ action: SyncAction, _ folder: ReplicaFolder, _ temporary: [UInt8]) throws {
        let name = Array(action.path.name)
        changedFolders.append((action.side, folder))
        if action.old?.kind == .directory {
            do throws(FileSystemFailure) {
                try folder.remove(name, isFolder: true)
            } catch {
                guard error.code == ENOTEMPTY || error.code == EEXIST else { throw error }
                return skip(action, "it holds entries that stay")
            }
        } else {
            try folder.rename(name, to: temporary, in: folder)
            options.reached(.unnamed)
            guard let status = try folder.status(temporary), action.old?.isSame(as: status) == true else {
                let kept = try Rescue.restore(
                    temporary, of: action.path, on: action.side, in: folder, date: options.date)
                return skip(action, "it changed at the last moment, and stays as \(kept)")
            }
            try folder.remove(temporary, isFolder: false)
        }
        options.reached(.deleted)
        note(progress.done(action, kind: nil, target: [], now: nil))
        report.removed += 1
    }

    // MARK: Folders

    private func makeFolders(_ actions: [SyncAction], _ breathe: () async throws -> Void) async throws {
        let numbers = try archive.begin(
            actions.map { action in
                var intent = Intent(work: .makeFolder, side: action.side, path: action.path.bytes)
                intent.kind = FileKind.directory.rawValue
                let state = ArchiveEntry.SideState(
                    metadata: action.metadata, size: 0, changed: 0, inode: 0, isRacy: false)
                intent.written = Intent.State(state)
                if let source = action.source {
                    intent.source = Intent.State(ArchiveEntry.SideState(source, at: options.now()))
                }
                return intent
            })
        for (action, number) in zip(actions, numbers) {
            try await breathe()
            var isMade = false
            if !progress.isBlocked(action) {
                try attempt(action) {
                    let folder = try folder(of: action.path, on: action.side)
                    try folder.makeFolder(Array(action.path.name))
                    changedFolders.append((action.side, folder))
                    isMade = true
                }
            }
            guard isMade else {
                intents.append(number)
                continue
            }
            options.reached(.madeFolder)
            madeFolders.append((action, number))
            touched[action.side].insert(action.path)
            report.folders += 1
        }
        try flushNames()
        try commit()
    }

    /// Gives folders the time of the other side, if this run changed them there only. If it changed both, A's time goes
    /// to B.
    private func settleFolderTimes() {
        for side in Side.allCases {
            let paths = side == .a ? touched.a.subtracting(touched.b) : touched.b
            for path in paths.sorted(by: >) {
                guard let across = try? replicas[side.other].folder(path),
                    let status = EntryStatus(descriptor: across.descriptor),
                    let folder = try? replicas[side].folder(path)
                else { continue }
                folder.setTime([], status.stamp.modified)
            }
        }
    }

    /// Gives the new folders their metadata. It comes last, as it may take away the right to write in them.
    private func finishFolders() throws {
        for (action, number) in madeFolders.sorted(by: { $0.action.path > $1.action.path }) {
            let replica = replicas[action.side]
            try attempt(action) {
                let name = Array(action.path.name)
                let folder = try replica.folder(action.path.ancestors.first ?? .root)
                try folder.setMetadata(name, action.metadata, kind: .directory, owner: replica.setsOwners)
                guard let status = try folder.status(name) else { throw folder.failure("stat", name, ENOENT) }
                let state = ArchiveEntry.SideState(written: status, metadata: replica.metadata(of: status))
                note(progress.done(action, kind: .directory, target: [], now: state))
            }
            intents.append(number)
        }
        options.reached(.finishedFolders)
        for side in Side.allCases where !touched[side].isEmpty { try replicas[side].synchronize() }
        try commit()
    }

    // MARK: Names and metadata

    private func change(_ action: SyncAction) throws {
        let replica = replicas[action.side]
        let name = Array(action.path.name)
        let folder = try folder(of: action.path, on: action.side)
        guard let status = try folder.status(name) else { throw folder.failure("find", name, ENOENT) }
        if let old = action.old, !old.isSame(as: status) {
            return skip(action, "it changed during the run; the next run looks again")
        }
        changedFolders.append((action.side, folder))
        switch action.work {
        case .moveAside(let other):
            try folder.rename(name, to: Array(other.name), in: folder)
            options.reached(.movedAside)
        case .rename(let new):
            let target = try self.folder(of: new, on: action.side)
            try folder.rename(name, to: Array(new.name), in: target)
            changedFolders.append((action.side, target))
            try target.setMetadata(
                Array(new.name), action.metadata, kind: status.kind, owner: replica.setsOwners)
            options.reached(.renamed)
            results.append(.remove(action.path))
            report.renamed += 1
            noteState(action, Array(new.name), in: target)
        case .describe:
            try folder.setMetadata(name, action.metadata, kind: status.kind, owner: replica.setsOwners)
            options.reached(.described)
            report.described += 1
            noteState(action, name, in: folder)
        case .put, .delete, .makeFolder: break
        }
    }

    private func noteState(_ action: SyncAction, _ name: [UInt8], in folder: ReplicaFolder) {
        guard let status = EntryStatus(name, in: folder.descriptor) else { return }
        let state = ArchiveEntry.SideState(written: status, metadata: replicas[action.side].metadata(of: status))
        let entry = action.source ?? action.old
        note(progress.done(action, kind: entry?.kind, target: entry?.target ?? [], now: state))
    }
}

extension SyncAction {
    /// Whether two steps are of one kind.
    fileprivate func isLike(_ other: SyncAction) -> Bool {
        switch (work, other.work) {
        case (.put, .put), (.delete, .delete), (.makeFolder, .makeFolder), (.describe, .describe): true
        case (.moveAside, .moveAside), (.rename, .rename): true
        default: false
        }
    }
}
