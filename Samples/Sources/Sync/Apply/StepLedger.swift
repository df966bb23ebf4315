internal import GRDB
internal import Glibc
internal import TreeScan

/// The notes of a run about its steps, and the way to the archive. All kinds of steps share it. One task at a time.
final class StepLedger {
    /// From this number of files on, one syncfs(2) is cheaper than one fsync(2) for each.
    private static let fewFiles = 16

    let archive: SyncArchive
    let replicas: Pair<any Replica>
    let options: SyncOptions
    var report: SyncReport
    /// The folders whose entries this run changed. Their times are set at the end.
    private(set) var touched: Pair<Set<RelativePath>> = Pair(a: [], b: [])

    private var progress: EntryProgress
    private var results: [EntryProgress.Result] = []
    private var intents: [Int64] = []
    private var changedFolders: [(Side, any ReplicaFolder)] = []
    private var openFolder: (any ReplicaFolder)?
    private var openSide = Side.a

    init(
        _ plan: SyncPlan, archive: SyncArchive, replicas: Pair<any Replica>, times: Pair<Int64>, options: SyncOptions
    ) {
        self.archive = archive
        self.replicas = replicas
        self.options = options
        progress = EntryProgress(plan, times: times)
        report = SyncReport()
        report.unchanged = plan.unchanged
        report.skipped = plan.skipped
        for name in plan.names where name.decision.isConflict {
            let to = name.otherName.map { "; one version is now \($0.display)" } ?? ""
            report.conflicts.append("\(name.path.display): \(name.decision.reason)\(to)")
        }
    }

    // MARK: Steps

    /// Runs a step. A failure of one entry is noted, and the others go on.
    func attempt(_ action: SyncAction, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let failure as FileSystemFailure {
            try FileCopier.check(failure, action.side)
            let isTaken = failure.code == EEXIST
            skip(action, isTaken ? "the name was taken during the run; the next run decides" : "\(failure)")
        }
    }

    /// Notes a step that is not done.
    func skip(_ action: SyncAction, _ reason: String) {
        noteFailure(action, "\(replicas[action.side].display(action.subject)): \(reason)")
    }

    /// Notes a step that is not done, with a reason that names the entry.
    func noteFailure(_ action: SyncAction, _ reason: String) {
        progress.failed(action)
        report.skipped.append(reason)
    }

    /// Whether a step must not be done, because one before it, or one above it, was not.
    func isBlocked(_ action: SyncAction) -> Bool { progress.isBlocked(action) }

    /// Notes a step that is done, with what its side has now, and the other side had when it was read.
    func finish(
        _ action: SyncAction, kind: FileKind?, target: [UInt8], now state: ArchiveEntry.SideState?,
        source: ArchiveEntry.SideState? = nil, digest: [UInt8]? = nil
    ) {
        let result = progress.done(action, kind: kind, target: target, now: state, source: source, digest: digest)
        if let result { results.append(result) }
    }

    /// Notes something that needs no step.
    func record(_ result: EntryProgress.Result) { results.append(result) }

    // MARK: Folders

    /// The folder of an entry. The last one stays open, as the next entry is most often in it, too.
    func folder(of path: RelativePath, on side: Side) async throws -> any ReplicaFolder {
        let parent = path.parent
        touched[side].insert(parent)
        if let openFolder, openSide == side, openFolder.path == parent { return openFolder }
        let folder = try await replicas[side].folder(parent)
        (openFolder, openSide) = (folder, side)
        return folder
    }

    /// Notes a folder whose time is set at the end.
    func touch(_ path: RelativePath, on side: Side) { touched[side].insert(path) }

    /// Notes a folder whose names change. `flushNames` puts them on the disk.
    func noteNames(in folder: any ReplicaFolder, on side: Side) { changedFolders.append((side, folder)) }

    // MARK: The disk

    /// Puts the changed names on the disk.
    func flushNames() async throws {
        for side in Side.allCases {
            let folders = changedFolders.filter { $0.0 == side }.map(\.1)
            let distinct = Dictionary(folders.map { ($0.path, $0) }) { first, _ in first }
            try await synchronize(Array(distinct.values), on: side) { try await $0.synchronizeNames() }
        }
        changedFolders = []
    }

    /// Puts things of one side on the disk: one by one if they are few.
    func synchronize<Thing>(
        _ things: [Thing], on side: Side, _ one: (Thing) async throws -> Int32
    ) async throws {
        guard !things.isEmpty else { return }
        // A request for each is never cheaper.
        guard things.count < Self.fewFiles, replicas[side] is LocalReplica else {
            return try await replicas[side].synchronize()
        }
        for thing in things {
            let code = try await one(thing)
            guard code == 0 else { throw SyncError.notWritten(side, code: code) }
        }
    }

    /// Writes intents to the journal. `commit` ends them.
    func begin(_ new: [Intent]) throws { intents += try archive.begin(new) }

    /// Lets `commit` end an intent that is in the journal.
    func end(intent: Int64) { intents.append(intent) }

    /// Writes down what is done, and ends its intents.
    func commit() throws {
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
}
