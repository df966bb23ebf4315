internal import SafeFiles
internal import TreeScan

/// One backup of one folder. One task at a time.
///
/// The walk, the records of folders and the report belong to the task that calls `run`. Files are read, hashed,
/// compressed and sealed by child tasks, a bounded number at a time.
public final class BackupRun {
    private typealias Saved = (folder: Int, file: SavedFile)
    private typealias Saving = ThrowingTaskGroup<[Saved], any Error>

    private let repository: Repository
    private let folder: String
    private let options: BackupOptions
    private let excludes: ExcludeRules
    private let resumed: BackupCheckpoint?
    /// None in a dry run.
    private let lease: Lease?
    private let saver: FileSaver
    private let scanner: TreeScanner
    private let sink: BlobSink
    private let source: BlobSource
    private let start: Int64
    /// The number of packs before this run.
    private let packs: Int

    private var folders: [Int: SavedFolder] = [:]
    private var stack: [Int] = []
    private var nextNumber = 0
    private var underWay = 0
    /// Short files that wait for others, to be saved together.
    private var short = ShortFiles()
    private var root: TreeNode?
    private var leftOut = 0
    private var unchanged = 0
    private var missing = 0
    private var problems: [String] = []

    /// The number of files saved so far.
    public private(set) var files = 0
    /// The sum of their sizes, in bytes.
    public private(set) var bytes: Int64 = 0

    /// Opens the folder and reads the index.
    ///
    /// - Parameters:
    ///   - repository: The repository to write to.
    ///   - folder: The path of the folder. Only this path itself may be a link.
    ///   - options: What is left out.
    ///   - checkpoint: The last checkpoint of a run on the same folder that was interrupted.
    /// - Throws: `TreeScanError`, `ExcludeError` or `BackupError`.
    public init(
        _ repository: Repository, folder: String, options: BackupOptions = BackupOptions(),
        resuming checkpoint: BackupCheckpoint? = nil
    ) throws {
        excludes = try ExcludeRules(options.excludes)
        let root = try RootFolder(folder)
        try ExcludeRules.check(options.excludes, for: root.absolutePaths)
        // Before the index is read: from here on a prune keeps what this run counts on.
        lease = options.isDryRun ? nil : try Lease(.backup, in: repository.folder)
        try repository.requireSnapshots()
        let contents = try repository.contents()
        let index = contents.index(withDoomed: false)
        let unlisted = contents.unlisted.filter { !contents.doomed.contains($0.pack) }
        self.repository = repository
        self.folder = folder
        self.options = options
        resumed = checkpoint
        start = options.now()
        packs = contents.records.count
        sink = try BlobSink(repository, known: index, unlisted: unlisted, width: options.width, isDry: options.isDryRun)
        source = BlobSource(repository, index: index)
        saver = FileSaver(root: root, sink: sink, options: options)
        let own = FolderIdentity(path: repository.path).map { Set([$0]) } ?? []
        let limits = ScanOptions(
            excludedNames: [], excludedFolders: own, oneFileSystem: options.oneFileSystem,
            ignoreFiles: options.ignoreFiles)
        scanner = try TreeScanner(root: root, options: limits)
    }

    /// Saves the folder, and writes the snapshot last.
    ///
    /// - Parameters:
    ///   - breathe: Called before each entry. It may wait, and it may throw to end the run.
    ///   - save: Takes a checkpoint, every `interval` and when `breathe` has thrown.
    ///   - interval: The time between two checkpoints.
    /// - Throws: `BackupError`, `CancellationError`, and the errors of the closures. No snapshot is written then, and
    ///   the next run uses the packs of this one.
    public func run(
        breathe: () async throws -> Void = {},
        save: ((BackupCheckpoint) async throws -> Void)? = nil,
        every interval: Duration = .seconds(30)
    ) async throws -> BackupReport {
        defer { lease?.release() }
        try await enterRoot()
        var saved = ContinuousClock.now
        try await withThrowingTaskGroup(of: [Saved].self) { group in
            while let event = scanner.next() {
                do {
                    try await breathe()
                } catch {
                    if let save {
                        try await drain(&group)
                        try await save(try await checkpoint())
                    }
                    throw error
                }
                try Task.checkCancellation()
                try await handle(event, &group)
                if let save, ContinuousClock.now - saved > interval {
                    try await drain(&group)
                    try await save(try await checkpoint())
                    saved = .now
                }
            }
            try await drain(&group)
            while let number = stack.popLast() { try await leave(number) }
        }
        return try await finish()
    }

    // MARK: The walk

    private func enterRoot() async throws {
        var trees: [[TreeNode.Chunk]] = []
        if let resumed { trees.append(resumed.root) }
        // One of the future would be the last one for years.
        let last = try repository.snapshots().snapshots.last {
            $0.host == options.host && $0.folder == folder && !$0.isOfFuture(at: start)
        }
        if let last { trees.append(last.root) }
        var earlier: [[[UInt8]: TreeNode]] = []
        for tree in trees {
            // An earlier tree only saves time: a damaged one is as none.
            guard let root = try? await source.root(tree) else { continue }
            earlier.append(await entries(of: root))
        }
        stack = [add(SavedFolder(node: try saver.folder(.root), path: .root, parent: nil, earlier: earlier))]
    }

    private func handle(_ event: ScanEvent, _ group: inout Saving) async throws {
        switch event {
        case .folder(let path):
            try await leaveFolders(notAbove: path)
            if excludes.match(path, isFolder: true) { return scanner.skipFolder() }
            do {
                try await enter(path)
            } catch let failure as FileSystemFailure {
                note(failure)
                scanner.skipFolder()
            }
        case .file(let path, let stamp):
            try await leaveFolders(notAbove: path)
            guard !excludes.match(path, isFolder: false), let parent = stack.last else { return }
            if let earlier = earlier(Array(path.name)), saver.isUnchanged(earlier, stamp) {
                return note(.saved(earlier, wasRead: false, note: nil), in: parent)
            }
            folders[parent]?.pending += 1
            if stamp.size <= ShortFiles.most {
                short.append(ShortFiles.File(folder: parent, path: path, size: Int(stamp.size)))
                if short.isFull { try await startShort(&group) }
            } else {
                try await start(&group) { saver in [(parent, try await saver.save(path))] }
            }
        case .leftOut(let path, let kind):
            try await leaveFolders(notAbove: path)
            guard !scanner.isIgnored, !excludes.match(path, isFolder: kind == .directory),
                let parent = stack.last
            else { return }
            switch kind {
            case .symbolicLink, .fifo:
                do throws(FileSystemFailure) {
                    folders[parent]?.entries.append(try saver.saveSpecial(path, kind))
                } catch {
                    note(error)
                }
            case .socket, .device: leftOut += 1
            case .directory, .regular: break
            }
        case .failure(let failure):
            // Nearly always a folder that cannot be entered.
            if !excludes.match(failure.path, isFolder: true) { note(failure) }
        }
    }

    private func enter(_ path: RelativePath) async throws {
        let node = try saver.folder(path)
        var earlier: [[[UInt8]: TreeNode]] = []
        for names in stack.last.flatMap({ folders[$0]?.earlier }) ?? [] {
            if let old = names[Array(path.name)] { earlier.append(await entries(of: old)) }
        }
        if let parent = stack.last { folders[parent]?.pending += 1 }
        stack.append(add(SavedFolder(node: node, path: path, parent: stack.last, earlier: earlier)))
    }

    private func add(_ folder: SavedFolder) -> Int {
        nextNumber += 1
        folders[nextNumber] = folder
        return nextNumber
    }

    private func entries(of node: TreeNode) async -> [[UInt8]: TreeNode] {
        guard case .folder(let chunks) = node.content, let nodes = try? await source.folder(chunks) else { return [:] }
        return Dictionary(nodes.map { ($0.name, $0) }) { first, _ in first }
    }

    private func earlier(_ name: [UInt8]) -> TreeNode? {
        let trees = stack.last.flatMap { folders[$0]?.earlier } ?? []
        return trees.lazy.compactMap { $0[name] }.first
    }

    private func leaveFolders(notAbove path: RelativePath) async throws {
        let parent = RelativePath(bytes: Array(path.bytes.dropLast(path.name.count).dropLast()))
        while stack.count > 1, let number = stack.last, folders[number]?.path != parent {
            stack.removeLast()
            try await leave(number)
        }
    }

    private func leave(_ number: Int) async throws {
        folders[number]?.isLeft = true
        try await finishFolder(number)
    }

    /// Stores the record of a folder whose entries are all saved, and then those above it.
    private func finishFolder(_ number: Int) async throws {
        var number = number
        while let folder = folders[number], folder.isLeft, folder.pending == 0 {
            folders[number] = nil
            var node = folder.node
            node.content = .folder(try await sink.storeContent(TreeNode.encode(folder.sortedEntries)))
            guard let parent = folder.parent else {
                root = node
                return
            }
            folders[parent]?.entries.append(node)
            folders[parent]?.pending -= 1
            number = parent
        }
    }

    // MARK: The files

    private func start(
        _ group: inout Saving, _ body: @escaping @Sendable (FileSaver) async throws -> [Saved]
    ) async throws {
        let saver = saver
        underWay += 1
        group.addTask { try await body(saver) }
        if underWay >= 2 * options.width { try await takeOne(&group) }
    }

    private func startShort(_ group: inout Saving) async throws {
        let files = short
        short = ShortFiles()
        try await start(&group) { saver in try await saver.save(files) }
    }

    private func drain(_ group: inout Saving) async throws {
        if !short.files.isEmpty { try await startShort(&group) }
        while underWay > 0 { try await takeOne(&group) }
    }

    private func takeOne(_ group: inout Saving) async throws {
        guard let saved = try await group.next() else { return }
        underWay -= 1
        for (number, file) in saved {
            folders[number]?.pending -= 1
            note(file, in: number)
            try await finishFolder(number)
        }
    }

    private func note(_ file: SavedFile, in folder: Int) {
        switch file {
        case .saved(let node, let wasRead, let remark):
            folders[folder]?.entries.append(node)
            files += 1
            if case .file(let content) = node.content { bytes = bytes.addingClamped(content.size) }
            if !wasRead { unchanged += 1 }
            if let remark { problems.append(remark) }
        case .vanished: break
        case .failed(let problem):
            missing += 1
            problems.append(problem)
        }
    }

    private func note(_ failure: FileSystemFailure) {
        guard !failure.isVanished else { return }
        missing += 1
        problems.append("\(failure)")
    }

    // MARK: The end

    /// Stores what is saved so far as a tree of its own. No file is under way.
    private func checkpoint() async throws -> BackupCheckpoint {
        var below: TreeNode?
        for number in stack.reversed() {
            guard let folder = folders[number] else { continue }
            var copy = folder
            if let below { copy.entries.append(below) }
            var node = folder.node
            node.content = .folder(try await sink.storeContent(TreeNode.encode(copy.sortedEntries)))
            below = node
        }
        let chunks = try await storeRoot(below)
        try await sink.flush()
        return BackupCheckpoint(root: chunks, files: files)
    }

    private func storeRoot(_ node: TreeNode?) async throws -> [TreeNode.Chunk] {
        var writer = ByteWriter()
        node?.write(to: &writer)
        return try await sink.storeContent(writer.bytes)
    }

    private func finish() async throws -> BackupReport {
        let chunks = try await storeRoot(root)
        try await sink.flush()
        var snapshot = Snapshot(
            time: start, host: options.host, folder: folder, root: chunks, files: files, bytes: bytes,
            problems: missing, tags: options.tags)
        let totals = sink.totals
        if let lease {
            guard lease.isHeld else { throw BackupError.leaseLost }
            snapshot = try repository.add(snapshot)
            guard lease.isHeld else {
                if let id = snapshot.id { try repository.folder.remove(id, from: .snapshots) }
                throw BackupError.leaseLost
            }
            repository.folder.growReserve(packs: packs + totals.packs)
        }
        return BackupReport(
            snapshot: snapshot, unchanged: unchanged, newBytes: totals.newBytes, storedBytes: totals.storedBytes,
            packs: totals.packs, leftOut: leftOut, problems: problems,
            ignoreProblems: scanner.ignoreProblems)
    }
}
