internal import SafeFiles
internal import TreeScan

/// One backup of one folder, or of several ones. One task at a time.
///
/// The walk, the records of folders and the report belong to the task that calls `run`. Files are read, hashed,
/// compressed and sealed by child tasks, a bounded number at a time.
public final class BackupRun {
    private typealias Saved = (folder: Int, file: SavedFile)
    private typealias Saving = ThrowingTaskGroup<[Saved], any Error>

    private let repository: Repository
    private let folders: [String]
    private let tree: SourceTree
    private let options: BackupOptions
    private let excludes: ExcludeRules
    private let resumed: BackupCheckpoint?
    /// None in a dry run.
    private let lease: Lease?
    /// The part that is walked.
    private var part: SourceTree.Part
    private var scanner: TreeScanner
    /// What all walks leave out.
    private let limits: ScanOptions
    private let sink: BlobSink
    private let source: BlobSource
    private let start: Int64
    /// The number of packs before this run.
    private let packs: Int

    private var open: [Int: SavedFolder] = [:]
    private var stack: [Int] = []
    /// The number of folders on the stack down to the one of the part.
    private var base = 1
    /// The names of the folders on the stack that are only on the way to a part.
    private var way: [[UInt8]] = []
    private var nextNumber = 0
    private var underWay = 0
    /// Short files that wait for others, to be saved together.
    private var short = ShortFiles()
    private var root: TreeNode?
    private var leftOut = 0
    private var unchanged = 0
    private var missing = 0
    private var problems: [String] = []
    /// The first files that were read.
    private var saved: [SavedName] = []
    private static let savedLimit = 1000
    /// Those of the parts before.
    private var ignoreProblems: [IgnoreProblem] = []

    /// The number of files saved so far.
    public private(set) var files = 0
    /// The sum of their sizes, in bytes.
    public private(set) var bytes: Int64 = 0

    /// Opens a folder and reads the index.
    ///
    /// - Parameters:
    ///   - repository: The repository to write to.
    ///   - folder: The path of the folder. Only this path itself may be a link.
    ///   - options: What is left out.
    ///   - checkpoint: The last checkpoint of a run on the same folder that was interrupted.
    /// - Throws: `TreeScanError`, `ExcludeError` or `BackupError`.
    public convenience init(
        _ repository: Repository, folder: String, options: BackupOptions = BackupOptions(),
        resuming checkpoint: BackupCheckpoint? = nil
    ) throws {
        try self.init(repository, folders: [folder], options: options, resuming: checkpoint)
    }

    /// Opens folders and reads the index. All of them get into one snapshot. Patterns count from each of them.
    ///
    /// - Parameter folders: Their paths, at least one. One that is in another one is saved with that.
    /// - Throws: `TreeScanError`, `ExcludeError` or `BackupError`.
    public init(
        _ repository: Repository, folders: [String], options: BackupOptions = BackupOptions(),
        resuming checkpoint: BackupCheckpoint? = nil
    ) throws {
        excludes = try ExcludeRules(options.excludes)
        self.folders = try SourceTree.paths(folders)
        for folder in self.folders {
            try ExcludeRules.check(options.excludes, for: try RootFolder(folder).absolutePaths)
        }
        // Before the index is read: from here on a prune keeps what this run counts on.
        lease = options.isDryRun ? nil : try Lease(.backup, in: repository.folder)
        try repository.requireSnapshots()
        let contents = try repository.contents()
        let index = contents.index(withDoomed: false)
        let unlisted = contents.unlisted.filter { !contents.doomed.contains($0.pack) }
        self.repository = repository
        self.options = options
        resumed = checkpoint
        start = options.now()
        packs = contents.records.count
        sink = try BlobSink(repository, known: index, unlisted: unlisted, width: options.width, isDry: options.isDryRun)
        source = BlobSource(repository, index: index)
        tree = try SourceTree(self.folders, sink: sink, options: options)
        guard let first = tree.parts.first else { throw TreeScanError.missing(path: "") }
        part = first
        let own = FolderIdentity(path: repository.path).map { Set([$0]) } ?? []
        limits = ScanOptions(
            excludedNames: [], excludedFolders: own, oneFileSystem: options.oneFileSystem,
            ignoreFiles: options.ignoreFiles)
        scanner = try TreeScanner(root: first.root, options: limits)
    }

    /// Saves the folders, and writes the snapshot last.
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
            for part in tree.parts {
                try await enter(part, &group)
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
            }
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
            SnapshotFilter.isSame($0.host, options.host)
                && $0.folders.elementsEqual(folders, by: SnapshotFilter.isSame) && !$0.isOfFuture(at: start)
        }
        if let last { trees.append(last.root) }
        var earlier: [[[UInt8]: TreeNode]] = []
        for tree in trees {
            // An earlier tree only saves time: a damaged one is as none.
            guard let root = try? await source.root(tree) else { continue }
            earlier.append(await entries(of: root))
        }
        let node = tree.hasWays ? try wayFolder([]) : try part.saver.folder(.root)
        stack = [add(SavedFolder(node: node, path: .root, parent: nil, earlier: earlier))]
    }

    /// Leaves the part before, and enters the folders on the way to a part, and the part itself.
    private func enter(_ next: SourceTree.Part, _ group: inout Saving) async throws {
        guard let last = next.way.last else { return }
        part = next
        ignoreProblems += scanner.ignoreProblems
        scanner = try TreeScanner(root: next.root, options: limits)
        // Down to the folders that both have on their ways; the part itself is one more.
        let above = Array(next.way.dropLast())
        let common = zip(way, above).prefix { $0 == $1 }.count
        while stack.count > common + 1, let number = stack.popLast() { try await leave(number) }
        way = above
        for depth in common..<above.count { try await enter(try wayFolder(Array(above[...depth])), at: .root) }
        var node = try next.saver.folder(.root)
        node.name = last
        try await enter(node, at: .root)
        base = stack.count
    }

    /// The record of a folder that is only on the way to a part: without attributes, which need the right to read it.
    private func wayFolder(_ names: [[UInt8]]) throws -> TreeNode {
        let path = RelativePath(bytes: Array(names.joined(separator: [UInt8(ascii: "/")])))
        let file = try SourceFile(path, in: try RootFolder("/"), for: .status)
        return try file.node(name: names.last ?? [], content: .folder([])).0
    }

    private func handle(_ event: ScanEvent, _ group: inout Saving) async throws {
        switch event {
        case .folder(let path):
            try await leaveFolders(notAbove: path)
            if excludes.match(path, isFolder: true) { return scanner.skipFolder() }
            do {
                try await enter(part.saver.folder(path), at: path)
            } catch let failure as FileSystemFailure {
                note(failure)
                scanner.skipFolder()
            }
        case .file(let path, let stamp):
            try await leaveFolders(notAbove: path)
            guard !excludes.match(path, isFolder: false), let parent = stack.last else { return }
            if let earlier = earlier(Array(path.name)), part.saver.isUnchanged(earlier, stamp) {
                return note(.saved(earlier, wasRead: false, note: nil), in: parent)
            }
            open[parent]?.pending += 1
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
                    open[parent]?.entries.append(try part.saver.saveSpecial(path, kind))
                } catch {
                    note(error)
                }
            case .socket, .device: leftOut += 1
            case .directory, .regular: break
            }
        case .failure(let failure):
            // Nothing below the folder itself can be told to be gone: the snapshot would be empty.
            if failure.path == .root { throw failure }
            // Nearly always a folder that cannot be entered.
            if !excludes.match(failure.path, isFolder: true) { note(failure) }
        }
    }

    private func enter(_ node: TreeNode, at path: RelativePath) async throws {
        var earlier: [[[UInt8]: TreeNode]] = []
        for names in stack.last.flatMap({ open[$0]?.earlier }) ?? [] {
            if let old = names[node.name] { earlier.append(await entries(of: old)) }
        }
        if let parent = stack.last { open[parent]?.pending += 1 }
        stack.append(add(SavedFolder(node: node, path: path, parent: stack.last, earlier: earlier)))
    }

    private func add(_ folder: SavedFolder) -> Int {
        nextNumber += 1
        open[nextNumber] = folder
        return nextNumber
    }

    private func entries(of node: TreeNode) async -> [[UInt8]: TreeNode] {
        guard case .folder(let chunks) = node.content, let nodes = try? await source.folder(chunks) else { return [:] }
        return Dictionary(nodes.map { ($0.name, $0) }) { first, _ in first }
    }

    private func earlier(_ name: [UInt8]) -> TreeNode? {
        let trees = stack.last.flatMap { open[$0]?.earlier } ?? []
        return trees.lazy.compactMap { $0[name] }.first
    }

    private func leaveFolders(notAbove path: RelativePath) async throws {
        let parent = RelativePath(bytes: Array(path.bytes.dropLast(path.name.count).dropLast()))
        while stack.count > base, let number = stack.last, open[number]?.path != parent {
            stack.removeLast()
            try await leave(number)
        }
    }

    private func leave(_ number: Int) async throws {
        open[number]?.isLeft = true
        try await finishFolder(number)
    }

    /// Stores the record of a folder whose entries are all saved, and then those above it.
    private func finishFolder(_ number: Int) async throws {
        var number = number
        while let folder = open[number], folder.isLeft, folder.pending == 0 {
            open[number] = nil
            var node = folder.node
            node.content = .folder(try await sink.storeContent(TreeNode.encode(folder.sortedEntries)))
            guard let parent = folder.parent else {
                root = node
                return
            }
            open[parent]?.entries.append(node)
            open[parent]?.pending -= 1
            number = parent
        }
    }

    // MARK: The files

    private func start(
        _ group: inout Saving, _ body: @escaping @Sendable (FileSaver) async throws -> [Saved]
    ) async throws {
        let saver = part.saver
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
            open[number]?.pending -= 1
            note(file, in: number)
            try await finishFolder(number)
        }
    }

    private func note(_ file: SavedFile, in folder: Int) {
        switch file {
        case .saved(let node, let wasRead, let remark):
            open[folder]?.entries.append(node)
            files += 1
            if case .file(let content) = node.content { bytes = bytes.addingClamped(content.size) }
            if !wasRead {
                unchanged += 1
            } else if saved.count < Self.savedLimit, let place = open[folder]?.path {
                saved.append(SavedName(path: shown(place.appending(node.name).display), time: FileTime.now))
            }
            if let remark { problems.append(shown(remark)) }
        case .vanished: break
        case .failed(let problem):
            missing += 1
            problems.append(shown(problem))
        }
    }

    private func note(_ failure: FileSystemFailure) {
        guard !failure.isGone else { return }
        missing += 1
        problems.append(shown("\(failure)"))
    }

    /// A line on an entry, with the folder that it is in if there are several.
    private func shown(_ problem: String) -> String {
        tree.hasWays ? "in \(RelativePath(argument: part.folder).display): \(problem)" : problem
    }

    // MARK: The end

    /// Stores what is saved so far as a tree of its own. No file is under way.
    private func checkpoint() async throws -> BackupCheckpoint {
        var below: TreeNode?
        for number in stack.reversed() {
            guard let folder = open[number] else { continue }
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
            time: start, host: options.host, folders: folders, root: chunks, files: files, bytes: bytes,
            problems: missing, tags: options.tags)
        let totals = sink.totals
        if let lease {
            guard try lease.isHeld else { throw BackupError.leaseLost }
            snapshot = try repository.add(snapshot)
            guard try lease.isHeld else {
                if let id = snapshot.id { try repository.folder.remove(id, from: .snapshots) }
                throw BackupError.leaseLost
            }
            repository.folder.storage.growReserve(packs: packs + totals.packs)
        }
        return BackupReport(
            snapshot: snapshot, unchanged: unchanged, newBytes: totals.newBytes, storedBytes: totals.storedBytes,
            packs: totals.packs, leftOut: leftOut, problems: problems, saved: saved,
            ignoreProblems: ignoreProblems + scanner.ignoreProblems)
    }
}
