internal import TreeScan

/// Ends what a killed run had begun, by its intents. It may itself be killed at any point and run again.
struct Recovery {
    let archive: SyncArchive
    let replicas: Pair<any Replica>
    let date: String
    /// The place of what is taken; nil if it goes at once.
    let versions: VersionStore?

    private var results: [EntryResult] = []
    private var changes = Pair(a: DiskChanges(), b: DiskChanges())
    /// Versions that nobody had seen, for people.
    private(set) var conflicts: [String] = []
    /// Folders that do not have their metadata yet, with their intents.
    private(set) var unfinished: [(action: SyncAction, intent: Int64)] = []

    init(archive: SyncArchive, replicas: Pair<any Replica>, date: String, versions: VersionStore? = nil) {
        self.versions = versions
        self.archive = archive
        self.replicas = replicas
        self.date = date
    }

    /// Ends all intents.
    ///
    /// - Throws: `SyncError`, or `FileSystemFailure` if an entry cannot be given its name back.
    mutating func run() async throws {
        let intents = try archive.intents()
        guard !intents.isEmpty else { return }
        for (number, intent) in intents {
            let path = RelativePath(bytes: intent.path)
            guard let folder = try await replicas[intent.side].folderIfThere(path.parent) else {
                continue
            }
            changes[intent.side].entries.insert(path.parent)
            switch intent.work {
            case .put: try await put(intent, path, folder)
            case .delete: try await delete(intent, path, folder)
            case .makeFolder: try await makeFolder(intent, number, path, folder)
            }
        }
        for side in Side.allCases { try await replicas[side].synchronize(changes[side]) }
        let open = Set(unfinished.map(\.intent))
        _ = try archive.record(results, ending: intents.map(\.id).filter { !open.contains($0) })
    }

    private mutating func put(_ intent: Intent, _ path: RelativePath, _ folder: any ReplicaFolder) async throws {
        guard let written = intent.written?.state, let source = intent.source?.state else { return }
        let now = try await folder.status(Array(path.name))
        if let status = try await folder.status(intent.temporary) {
            if status.stamp.inode == written.inode {
                await folder.discard(intent.temporary)
            } else if intent.isOld(status) {
                try await dismiss(intent, path, folder)
            } else {
                let name = try await Rescue.keep(intent.temporary, of: path, on: intent.side, in: folder, date: date)
                conflicts.append("\(path.display): it changed at the last moment; that version is now \(name)")
            }
        }
        guard let now, now.stamp.inode == written.inode else { return }
        add(intent, path, written.named(now), source)
    }

    private mutating func delete(_ intent: Intent, _ path: RelativePath, _ folder: any ReplicaFolder) async throws {
        if let status = try await folder.status(intent.temporary) {
            if intent.isOld(status) {
                try await dismiss(intent, path, folder)
            } else {
                _ = try await Rescue.restore(intent.temporary, of: path, on: intent.side, in: folder, date: date)
            }
        }
        let across = try await replicas[intent.side.other].folderIfThere(path.parent)
        let isGoneAcross = try await across?.status(Array(path.name)) == nil
        if isGoneAcross, try await folder.status(Array(path.name)) == nil { results.append(.remove(path)) }
    }

    /// Removes an entry that has left its name, or keeps it.
    private func dismiss(_ intent: Intent, _ path: RelativePath, _ folder: any ReplicaFolder) async throws {
        guard let versions else { return await folder.discard(intent.temporary) }
        try versions.keep(intent.temporary, of: path, on: intent.side, in: folder)
    }

    /// A folder without its metadata gets it at the end of the next run. Until then it must stay open for its owner.
    private mutating func makeFolder(
        _ intent: Intent, _ number: Int64, _ path: RelativePath, _ folder: any ReplicaFolder
    ) async throws {
        guard let metadata = intent.written?.state.metadata, let status = try await folder.status(Array(path.name)),
            status.kind == .directory, status.mode == 0o700
        else { return }
        let action = SyncAction(work: .makeFolder, side: intent.side, path: path, metadata: metadata)
        unfinished.append((action, number))
    }

    private mutating func add(
        _ intent: Intent, _ path: RelativePath, _ written: ArchiveEntry.SideState, _ source: ArchiveEntry.SideState
    ) {
        guard let kind = FileKind(rawValue: intent.kind) else { return }
        let sides = intent.side == .a ? Pair(a: written, b: source) : Pair(a: source, b: written)
        results.append(
            .write(
                ArchiveEntry(path: path, kind: kind, target: intent.target, sides: sides, digest: intent.digest)))
    }
}
