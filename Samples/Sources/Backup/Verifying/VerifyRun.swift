internal import SafeFiles
internal import TreeScan

/// One comparison of a folder with a snapshot. One task at a time. It changes neither.
///
/// Every byte of the snapshot's files is read from the repository, verified, and compared. So a run without a
/// difference also shows that a restore can give all of them back.
public final class VerifyRun {
    private struct FileKey: Hashable {
        let device: UInt64
        let inode: UInt64

        init(_ node: TreeNode) {
            device = node.device
            inode = node.inode
        }
    }

    private let repository: Repository
    private let snapshot: Snapshot
    private let options: VerifyOptions
    private let excludes: ExcludeRules
    private let lease: Lease?
    private let source: BlobSource
    private let root: RootFolder
    private let repositoryFolder: FolderIdentity?
    private var report = VerifyReport()
    /// The first path and the inode in the folder, by the inode in the snapshot.
    private var linked: [FileKey: (path: RelativePath, found: FileKey)] = [:]
    /// The inode in the snapshot, by the inode in the folder.
    private var taken: [FileKey: FileKey] = [:]

    /// The number of entries compared so far.
    public var entries: Int { report.entries }

    /// Opens the folder and reads the index.
    ///
    /// - Throws: `TreeScanError` for the folder, `ExcludeError`, `BackupError` for the repository.
    public init(
        _ repository: Repository, _ snapshot: Snapshot, against folder: String,
        options: VerifyOptions = VerifyOptions()
    ) throws {
        excludes = try ExcludeRules(options.excludes)
        root = try RootFolder(folder)
        try ExcludeRules.check(options.excludes, for: root.absolutePaths)
        // A repository on a medium that cannot be written has no prune either.
        lease = try? Lease(.read, in: repository.folder)
        self.repository = repository
        self.snapshot = snapshot
        self.options = options
        repositoryFolder = FolderIdentity(path: repository.path)
        source = BlobSource(repository, index: try repository.contents().index(withDoomed: true))
    }

    /// Compares all entries: folders before what is in them, in the order of the names' bytes.
    ///
    /// - Parameters:
    ///   - breathe: Called before each entry. It may wait, and it may throw to end the run.
    ///   - found: Gets each difference.
    /// - Returns: The counts, and the entries that could not be compared.
    /// - Throws: `CancellationError`, the errors of the closures, or `BackupError.damaged` if not even the root of the
    ///   snapshot can be read.
    public func run(
        breathe: () async throws -> Void = {}, found: (Difference) throws -> Void = { _ in }
    ) async throws -> VerifyReport {
        defer { lease?.release() }
        let first: TreeNode
        do {
            first = try await source.root(snapshot.root)
        } catch let failure as BlobFailure {
            throw BackupError.damaged(path: "the root of snapshot \(snapshot.shortName)", detail: "\(failure)")
        }
        guard let start = try await entry(at: options.path, below: first) else { return report }
        var pending = [(path: options.path, node: start)]
        while let (path, node) = pending.popLast() {
            try await breathe()
            try Task.checkCancellation()
            do {
                let entries = try await compare(node, at: path, found)
                pending += entries.reversed().map { (path.appending($0.name), $0) }
            } catch let failure as BlobFailure {
                report.damage.append("\(Self.display(path, node)): \(failure)")
            } catch let failure as FileSystemFailure where failure.isGone {
                try note([Difference(path: path, aspect: .missing, detail: Self.missing(node))], found)
            } catch let failure as FileSystemFailure {
                report.unreadable.append("\(failure)")
            }
        }
        return report
    }

    /// Finds the entry to begin with.
    private func entry(at path: RelativePath, below root: TreeNode) async throws -> TreeNode? {
        var node = root
        for name in path.components {
            guard case .folder(let chunks) = node.content else { throw BackupError.unknownPath(path.display) }
            do {
                let entries = try await source.folder(chunks)
                guard let next = entries.first(where: { $0.name == Array(name) }) else {
                    throw BackupError.unknownPath(path.display)
                }
                node = next
            } catch let failure as BlobFailure {
                report.damage.append("the folders above \(path.display): \(failure)")
                return nil
            }
        }
        return node
    }

    // MARK: One entry

    /// Compares an entry. Returns the entries of a folder that are still to be compared.
    private func compare(
        _ node: TreeNode, at path: RelativePath, _ found: (Difference) throws -> Void
    ) async throws -> [TreeNode] {
        let status = try SourceFile(path, in: root, for: .status)
        var (there, kind) = try status.node(name: node.name, content: .pipe)
        report.entries += 1
        guard kind == node.content.fileKind else {
            let detail = "it is a \(kind.text), and was a \(node.content.fileKind.text)"
            try note([Difference(path: path, aspect: .kind, detail: detail)], found)
            return []
        }
        var below: [TreeNode] = []
        switch node.content {
        case .file(let content):
            let file = try SourceFile(path, in: root, for: .reading)
            there.attributes = try file.attributes()
            try await compareContent(of: file, with: content, at: path, found)
        case .folder(let chunks):
            // The way to a folder may be one that this user may pass, and not list.
            guard !snapshot.isOnWay(path) else { return try await source.folder(chunks) }
            there.attributes = try SourceFile(path, in: root, for: .listing).attributes()
            below = try await compareNames(chunks, at: path, found)
        case .link(let target):
            let now = try status.linkTarget()
            if now != target {
                let texts = [now, target].map { RelativePath(bytes: $0).display }
                let detail = "it points to \(texts[0]), and pointed to \(texts[1])"
                try note([Difference(path: path, aspect: .target, detail: detail)], found)
            }
        case .pipe: break
        }
        try note(MetadataComparison(path: path, saved: node, found: there).differences, found)
        if case .file = node.content { try compareLinks(node, there, at: path, found) }
        return below
    }

    private func compareContent(
        of file: SourceFile, with content: TreeNode.FileContent, at path: RelativePath,
        _ found: (Difference) throws -> Void
    ) async throws {
        let size = try file.size()
        guard size == content.size else {
            let detail = "it has \(size) bytes, and had \(content.size)"
            return try note([Difference(path: path, aspect: .size, detail: detail)], found)
        }
        if let byte = try await ContentComparison(source: source).firstDifference(of: file, from: content) {
            let detail = "its content differs from byte \(byte) on"
            try note([Difference(path: path, aspect: .content, detail: detail)], found)
        }
        report.bytes = report.bytes.addingClamped(size)
    }

    /// Returns the entries of the snapshot's folder that are there, and reports those of one side only.
    private func compareNames(
        _ chunks: [TreeNode.Chunk], at path: RelativePath, _ found: (Difference) throws -> Void
    ) async throws -> [TreeNode] {
        let listing = try FolderListing(of: path, in: root, limit: .max).entries
        let ignored = try IgnoredEntries(of: path, in: root, fileNames: options.ignoreFiles)
        func isLeftOut(_ name: [UInt8], _ kind: FileKind) -> Bool {
            let isFolder = kind == .directory
            return ignored.contains(name, isFolder: isFolder)
                || excludes.match(snapshot.pathInFolder(path.appending(name)), isFolder: isFolder)
        }
        let saved = try await source.folder(chunks).filter { !isLeftOut($0.name, $0.content.fileKind) }
        let (there, names) = (Set(listing.map(\.name)), Set(saved.map(\.name)))
        for entry in saved where !there.contains(entry.name) {
            report.entries += 1
            let path = path.appending(entry.name)
            try note([Difference(path: path, aspect: .missing, detail: Self.missing(entry))], found)
        }
        for entry in listing where !names.contains(entry.name) && isSaved(entry.status) {
            guard !isLeftOut(entry.name, entry.status.kind) else { continue }
            let path = path.appending(entry.name)
            let detail = "it is not in the snapshot" + (entry.status.kind == .directory ? ", with all below it" : "")
            try note([Difference(path: path, aspect: .added, detail: detail)], found)
        }
        return saved.filter { there.contains($0.name) }
    }

    /// Whether a backup saves such an entry: no socket, no device, and not the repository itself.
    private func isSaved(_ status: EntryStatus) -> Bool {
        switch status.kind {
        case .socket, .device: false
        case .directory: repositoryFolder.map { !status.isFolder($0) } ?? true
        case .regular, .symbolicLink, .fifo: true
        }
    }

    /// Names of one file must be names of one file, and no others.
    private func compareLinks(
        _ node: TreeNode, _ there: TreeNode, at path: RelativePath, _ found: (Difference) throws -> Void
    ) throws {
        guard node.links > 1 || there.links > 1 else { return }
        let (saved, now) = (FileKey(node), FileKey(there))
        if node.links > 1, let first = linked[saved], first.found != now {
            let detail = "it is another file than \(first.path.display), and was the same"
            try note([Difference(path: path, aspect: .links, detail: detail)], found)
        } else if let other = taken[now], other != saved {
            let name = linked[other].map { $0.path.display } ?? "another entry"
            let detail = "it is the same file as \(name), and was another"
            try note([Difference(path: path, aspect: .links, detail: detail)], found)
        }
        if linked[saved] == nil { linked[saved] = (path, now) }
        if taken[now] == nil { taken[now] = saved }
    }

    private func note(_ differences: [Difference], _ found: (Difference) throws -> Void) throws {
        report.differences += differences.count
        for difference in differences { try found(difference) }
    }

    private static func missing(_ node: TreeNode) -> String {
        if case .folder = node.content { return "it is missing, with all below it" }
        return "it is missing"
    }

    private static func display(_ path: RelativePath, _ node: TreeNode) -> String {
        let name = path == .root ? "the folder" : path.display
        if case .folder = node.content { return "\(name) and everything below it" }
        return name
    }
}

extension EntryStatus {
    fileprivate func isFolder(_ other: FolderIdentity) -> Bool {
        stamp.device == other.device && stamp.inode == other.inode
    }
}

extension TreeNode.Content {
    fileprivate var fileKind: FileKind {
        switch self {
        case .file: .regular
        case .folder: .directory
        case .link: .symbolicLink
        case .pipe: .fifo
        }
    }
}

extension FileKind {
    /// The kind in words.
    fileprivate var text: String {
        switch self {
        case .regular: "file"
        case .directory: "folder"
        case .symbolicLink: "symbolic link"
        case .fifo: "pipe"
        case .socket, .device: "socket or device"
        }
    }
}
