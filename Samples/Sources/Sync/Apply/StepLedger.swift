internal import Glibc
internal import TreeScan

/// The notes of a run about its steps, and the way to the archive. All kinds of steps share it. One task at a time.
final class StepLedger {
    /// The number of notes, and of changes in a report, at most.
    private static let limit = (notes: 10_000, changes: 1000)

    let archive: SyncArchive
    let replicas: Pair<any Replica>
    let options: SyncOptions
    var report: SyncReport
    /// The folders whose entries this run changed. Their times are set at the end.
    private(set) var touched: Pair<Set<RelativePath>> = Pair(a: [], b: [])

    /// The place of what is taken; nil if it goes at once.
    let versions: VersionStore?

    private var progress: EntryProgress
    private var results: [EntryResult] = []
    private var intents: [Int64] = []
    private var parts: [PartialFile] = []
    private var changes = Pair(a: DiskChanges(), b: DiskChanges())
    private var openFolder: (any ReplicaFolder)?
    private var openSide = Side.a

    init(
        _ plan: SyncPlan, archive: SyncArchive, replicas: Pair<any Replica>, times: Pair<Int64>,
        versions: VersionStore?, options: SyncOptions
    ) {
        self.versions = versions
        self.archive = archive
        self.replicas = replicas
        self.options = options
        progress = EntryProgress(plan, times: times)
        report = SyncReport()
        report.unchanged = plan.unchanged
        report.skipped = plan.skipped
        report.notes = plan.notes.isEmpty ? nil : plan.notes
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
            if FileCopier.isFull(failure) { return skip(action, FileCopier.noRoom(on: action.side)) }
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

    /// Whether a step of a name was not done.
    func hasFailed(_ path: RelativePath) -> Bool { progress.hasFailed(path) }

    /// Notes a step that is done, with what its side has now, and the other side had when it was read.
    func finish(
        _ action: SyncAction, kind: FileKind?, target: [UInt8], now state: ArchiveEntry.SideState?,
        source: ArchiveEntry.SideState? = nil, digest: [UInt8]? = nil
    ) {
        if let work = action.reported, report.changes?.count ?? 0 < Self.limit.changes {
            let path = action.subject.display
            let time = (Double(options.now()) / 1e6).rounded() / 1000
            report.changes = report.changes ?? []
            report.changes?.append(SyncChange(work, on: action.side, path, at: time))
        }
        let result = progress.done(action, kind: kind, target: target, now: state, source: source, digest: digest)
        if let result { results.append(result) }
    }

    /// Notes the extended attributes of an entry that a step reads.
    func note(_ attributes: AttributePrint?, of path: RelativePath, on side: Side) {
        progress.note(attributes, of: path, on: side)
    }

    /// Notes extended attributes that an entry could not get.
    func noteLost(_ names: [[UInt8]], of action: SyncAction) {
        guard !names.isEmpty else { return }
        report.incomplete = (report.incomplete ?? 0) + 1
        note("\(replicas[action.side].display(action.path)): it cannot have \(names.attributeNames)")
    }

    /// Notes an effect that a person may not expect. The last notes of many are left out.
    private func note(_ text: String) {
        guard report.notes?.count ?? 0 < Self.limit.notes else { return }
        report.notes = report.notes ?? []
        report.notes?.append(text)
    }

    /// Notes something that needs no step.
    func record(_ result: EntryResult) { results.append(result) }

    /// Removes an entry that has left its name, or keeps it where the options say.
    func dismiss(
        _ temporary: [UInt8], of path: RelativePath, on side: Side, in folder: any ReplicaFolder
    ) async throws {
        guard let versions else { return try await folder.remove(temporary, isFolder: false) }
        try versions.keep(temporary, of: path, on: side, in: folder)
    }

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

    /// Closes the folder that is open. It may have lent rights.
    func close() { openFolder = nil }

    /// Notes a folder whose time is set at the end.
    func touch(_ path: RelativePath, on side: Side) { touched[side].insert(path) }

    /// Notes changes that must be on the disk before the archive learns of them, or a next step relies on them.
    func noteChanges(on side: Side, _ note: (inout DiskChanges) -> Void) { note(&changes[side]) }

    /// Notes a folder whose names change.
    func noteNames(in folder: any ReplicaFolder, on side: Side) { changes[side].entries.insert(folder.path) }

    // MARK: The disk

    /// Puts all noted changes on the disk, also those of earlier batches.
    func flush() async throws {
        for side in Side.allCases where !changes[side].isEmpty {
            try await replicas[side].synchronize(changes[side])
            changes[side] = DiskChanges()
        }
    }

    /// Writes intents to the journal, and what was done before them to the archive. Returns the numbers of the intents.
    func begin(_ new: [Intent]) async throws -> [Int64] { try await write(new) }

    /// Lets the next write to the archive end intents. All that they say must have been done.
    func end(intents numbers: [Int64]) { intents += numbers }

    /// Lets the next write to the archive forget a large file, which has its name by now.
    func end(part: PartialFile) { parts.append(part) }

    /// Writes down what is done, and ends its intents.
    func commit() async throws { _ = try await write([]) }

    /// The archive learns only what is on the disk.
    private func write(_ new: [Intent]) async throws -> [Int64] {
        try await flush()
        let isRecording = !results.isEmpty || !intents.isEmpty
        guard isRecording || !new.isEmpty || !parts.isEmpty else { return [] }
        let numbers = try archive.record(results, ending: intents, forgetting: parts, beginning: new)
        results = []
        intents = []
        parts = []
        if isRecording { options.reached(.recorded) }
        return numbers
    }
}
