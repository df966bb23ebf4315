internal import Glibc
internal import TreeScan

/// The steps that make folders. Their metadata and their times come at the end of the run.
struct FolderMaking {
    let ledger: StepLedger
    /// The folders without their metadata.
    private var made: [(action: SyncAction, intent: Int64)]

    /// Takes over the folders that an earlier run made and did not finish.
    init(ledger: StepLedger, unfinished: [(action: SyncAction, intent: Int64)]) {
        self.ledger = ledger
        made = unfinished
        for (action, _) in unfinished { ledger.touch(action.path, on: action.side) }
    }

    mutating func run(_ actions: [SyncAction], _ breathe: () async throws -> Void) async throws {
        let numbers = try await ledger.begin(actions.map(intent))
        for (action, number) in zip(actions, numbers) {
            try await breathe()
            var isMade = false
            if !ledger.isBlocked(action) {
                try await ledger.attempt(action) {
                    let folder = try await ledger.folder(of: action.path, on: action.side)
                    try await folder.makeFolder(Array(action.path.name))
                    ledger.noteNames(in: folder, on: action.side)
                    isMade = true
                }
            }
            guard isMade else {
                ledger.end(intents: [number])
                continue
            }
            ledger.options.reached(.madeFolder)
            made.append((action, number))
            ledger.touch(action.path, on: action.side)
            ledger.report.folders += 1
        }
    }

    private func intent(_ action: SyncAction) -> Intent {
        var intent = Intent(work: .makeFolder, side: action.side, path: action.path.bytes)
        intent.kind = FileKind.directory.rawValue
        let state = ArchiveEntry.SideState(metadata: action.metadata, size: 0, changed: 0, inode: 0, isRacy: false)
        intent.written = Intent.State(state)
        if let source = action.source {
            intent.source = Intent.State(ArchiveEntry.SideState(source, at: ledger.options.now()))
        }
        return intent
    }

    /// Gives folders the time of the other side, if this run changed them there only. If it changed both, A's time goes
    /// to B.
    func settleTimes() async throws {
        let (replicas, touched) = (ledger.replicas, ledger.touched)
        for side in Side.allCases {
            let paths = side == .a ? touched.a.subtracting(touched.b) : touched.b
            for path in paths.sorted(by: >) {
                guard let across = try await replicas[side.other].folderIfThere(path),
                    let folder = try await replicas[side].folderIfThere(path)
                else { continue }
                await folder.setTime([], try await across.status().stamp.modified)
                ledger.noteNames(in: folder, on: side)
            }
        }
    }

    /// Gives a new folder the extended attributes of the other side, and no others. Before its mode, which has a part of
    /// an access list.
    ///
    /// - Returns: The attributes of the other side, and those of the new folder.
    private func copyAttributes(
        _ name: [UInt8], _ action: SyncAction, to folder: any ReplicaFolder
    ) async throws -> (source: AttributePrint?, own: AttributePrint?) {
        let path = action.source?.path ?? action.path
        let across = try await ledger.replicas[action.side.other].folderIfThere(path.parent)
        guard let wanted = try await across?.attributes(of: Array(path.name)) else { return (nil, nil) }
        let surplus = try await folder.attributes(of: name)?.keys.filter { wanted[$0] == nil } ?? []
        var lost: [[UInt8]] = []
        if !wanted.isEmpty || !surplus.isEmpty {
            lost = try await folder.changeAttributes(of: name, setting: wanted, removing: surplus)
            ledger.noteLost(lost, of: action)
        }
        let print = AttributePrint(wanted)
        guard !lost.isEmpty else { return (print, print) }
        return (print, try await folder.attributes(of: name).map(AttributePrint.init))
    }

    /// Gives the new folders their metadata. It comes last, as it may take away the right to write in them.
    func finish() async throws {
        for (action, number) in made.sorted(by: { $0.action.path > $1.action.path }) {
            let replica = ledger.replicas[action.side]
            try await ledger.attempt(action) {
                let name = Array(action.path.name)
                let folder = try await replica.folder(action.path.parent)
                let prints = try await copyAttributes(name, action, to: folder)
                try await folder.setMetadata(name, action.metadata, kind: .directory, owner: replica.setsOwners)
                guard let status = try await folder.status(name) else { throw folder.failure("stat", name, ENOENT) }
                ledger.noteChanges(on: action.side) { $0.noteMetadata(of: action.path, kind: .directory) }
                var state = ArchiveEntry.SideState(
                    written: status, metadata: Metadata(of: status, owners: replica.setsOwners))
                state.attributes = prints.own
                ledger.note(prints.source, of: action.subject, on: action.side.other)
                ledger.finish(action, kind: .directory, target: [], now: state)
            }
            ledger.end(intents: [number])
        }
        ledger.options.reached(.finishedFolders)
        try await ledger.commit()
    }
}
