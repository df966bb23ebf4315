internal import Glibc
internal import SafeFiles
internal import TreeScan

/// One restore of one snapshot. One task at a time.
///
/// Each file appears under its name when all of it has been verified and written. A run that was interrupted goes on:
/// files that are there byte for byte are not written again.
public final class RestoreRun {
    private struct FileKey: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    private let repository: Repository
    private let snapshot: Snapshot
    private let options: RestoreOptions
    private let lease: Lease?
    private let source: BlobSource
    private let restorer: FileRestorer
    private let place: String
    private var target: TargetFolder?
    /// The files with several names that are restored, by their inodes. Some of one inode have different contents if it
    /// changed during the backup.
    private var linked: [FileKey: [(content: TreeNode.FileContent, path: RelativePath)]] = [:]
    private var report = RestoreReport()

    /// The number of files, links and pipes that are restored so far.
    public var entries: Int { report.restored + report.present }
    /// The bytes of the files that are written so far.
    public var bytes: Int64 { report.bytes }

    /// Reads the index.
    ///
    /// - Throws: `BackupError`.
    public init(
        _ repository: Repository, _ snapshot: Snapshot, to target: String, options: RestoreOptions = RestoreOptions()
    ) throws {
        // A repository on a medium that cannot be written has no prune either.
        lease = try? Lease(.read, in: repository.folder)
        self.repository = repository
        self.snapshot = snapshot
        self.options = options
        place = target
        source = BlobSource(repository, index: try repository.contents().index(withDoomed: true))
        restorer = FileRestorer(source: source, keys: repository.keys, replaces: options.replaces)
    }

    /// Opens or makes the target, and writes the files.
    ///
    /// Folders that are there keep their metadata. Those that the run makes get that of the snapshot.
    ///
    /// - Parameter breathe: Called before each entry. It may wait, and it may throw to end the run.
    /// - Returns: What was restored, and what could not be.
    /// - Throws: `BackupError.noSpace`, `CancellationError`, an error of `breathe`, `BackupError.unknownPath` if the
    ///   snapshot has no such entry, or `BackupError.damaged` if not even the root of the snapshot can be read. Nothing
    ///   is made in the last two cases.
    public func run(breathe: () async throws -> Void = {}) async throws -> RestoreReport {
        defer { lease?.release() }
        let root: TreeNode
        do {
            root = try await source.root(snapshot.root)
        } catch let failure as BlobFailure {
            throw BackupError.damaged(path: "the root of snapshot \(snapshot.shortName)", detail: "\(failure)")
        }
        try await checkPath(below: root)
        guard !options.isDryRun else {
            try await preview(root, breathe)
            return report
        }
        let target = try TargetFolder(root: place, before: repository.folder.hook)
        self.target = target
        try await restore(root, into: target, only: options.path.components.map(Array.init)[...], breathe)
        // Names and data on the disk before the run says that it is done.
        try target.synchronize()
        return report
    }

    /// Counts what a run would do.
    private func preview(_ root: TreeNode, _ breathe: () async throws -> Void) async throws {
        let there = try? RootFolder(place)
        let wanted = options.path.components.map { Array($0) }
        var pending: [(path: RelativePath, node: TreeNode)] = [(.root, root)]
        while let (path, node) = pending.popLast() {
            try await breathe()
            if path != .root { count(node, at: path, in: there) }
            guard case .folder(let chunks) = node.content else { continue }
            let depth = path.components.count
            do {
                pending += try await source.folder(chunks).compactMap { entry in
                    guard depth >= wanted.count || entry.name == wanted[depth] else { return nil }
                    return (path.appending(entry.name), entry)
                }
            } catch let failure as BlobFailure {
                report.problems.append("\(display(path)) with everything below it: \(failure)")
            }
        }
    }

    private func count(_ node: TreeNode, at path: RelativePath, in root: RootFolder?) {
        var found: EntryStatus?
        if let root, let descriptor = try? root.descriptor(of: path, for: .status) {
            let entry = OpenDescriptor(owning: descriptor)
            found = EntryStatus(descriptor: entry.number)
        }
        var size: Int64 = 0
        switch node.content {
        case .folder: return
        case .file(let content):
            size = content.size
            if let found, found.kind == .regular, found.stamp.size == size, found.stamp.modified == node.modified {
                report.present += 1
                return
            }
        case .link:
            if found?.kind == .symbolicLink {
                report.present += 1
                return
            }
        case .pipe:
            if found?.kind == .fifo {
                report.present += 1
                return
            }
        }
        if let found, !options.replaces || found.kind == .directory {
            report.problems.append("\(path.display): another entry is there; it would stay")
        } else {
            report.restored += 1
            report.bytes = report.bytes.addingClamped(size)
        }
    }

    /// Fails if the snapshot has no entry at the path of the options.
    private func checkPath(below root: TreeNode) async throws {
        var node = root
        for name in options.path.components {
            guard case .folder(let chunks) = node.content else {
                throw BackupError.unknownPath(options.path.display)
            }
            do {
                let entries = try await source.folder(chunks)
                guard let next = entries.first(where: { $0.name == Array(name) }) else {
                    throw BackupError.unknownPath(options.path.display)
                }
                node = next
            } catch is BlobFailure {
                // Nobody knows. The restore says what is damaged.
                return
            }
        }
    }

    private func restore(
        _ node: TreeNode, into folder: TargetFolder, only path: ArraySlice<[UInt8]>, _ breathe: () async throws -> Void
    ) async throws {
        guard case .folder(let chunks) = node.content else { return }
        var entries: [TreeNode]
        do {
            entries = try await source.folder(chunks)
        } catch let failure as BlobFailure {
            report.problems.append("\(display(folder.path)) with everything below it: \(failure)")
            entries = []
        }
        if let name = path.first { entries.removeAll { $0.name != name } }
        try await restoreFiles(entries, in: folder, breathe)
        for entry in entries {
            try await breathe()
            guard case .folder = entry.content else { continue }
            do {
                let below = try TargetFolder(entry.name, in: folder)
                try await restore(entry, into: below, only: path.dropFirst(), breathe)
            } catch let failure as FileSystemFailure {
                try failure.endIfFull()
                report.problems.append("\(failure), with everything below it")
            }
        }
        if !folder.finish(node).isEmpty { report.incomplete += 1 }
    }

    /// Restores all but folders. Several files are written at the same time.
    private func restoreFiles(
        _ entries: [TreeNode], in folder: TargetFolder, _ breathe: () async throws -> Void
    ) async throws {
        let restorer = restorer
        try await withThrowingTaskGroup(of: (TreeNode, FileRestorer.Outcome).self) { group in
            var underWay = 0
            for entry in entries {
                try await breathe()
                switch entry.content {
                case .folder: break
                case .link, .pipe: try restoreSpecial(entry, in: folder)
                case .file(let content) where entry.links > 1:
                    try await restoreLinked(entry, content, in: folder)
                case .file(let content):
                    if underWay >= options.width, let (done, outcome) = try await group.next() {
                        underWay -= 1
                        count(outcome, done, in: folder)
                    }
                    underWay += 1
                    group.addTask { (entry, try await restorer.restore(entry, content, in: folder)) }
                }
            }
            for try await (done, outcome) in group { count(outcome, done, in: folder) }
        }
    }

    private func count(_ outcome: FileRestorer.Outcome, _ node: TreeNode, in folder: TargetFolder) {
        switch outcome {
        case .restored(let missing):
            report.restored += 1
            if case .file(let content) = node.content { report.bytes = report.bytes.addingClamped(content.size) }
            if !missing.isEmpty { report.incomplete += 1 }
            remember(node, in: folder)
        case .present(let missing):
            report.present += 1
            if !missing.isEmpty { report.incomplete += 1 }
            remember(node, in: folder)
        case .failed(let problem): report.problems.append(problem)
        }
    }

    private func remember(_ node: TreeNode, in folder: TargetFolder) {
        guard node.links > 1, case .file(let content) = node.content else { return }
        let key = FileKey(device: node.device, inode: node.inode)
        guard linked[key]?.contains(where: { $0.content == content }) != true else { return }
        linked[key, default: []].append((content, folder.path.appending(node.name)))
    }

    /// Restores one of several names of a file. All of them are names of one file again, or the report says so.
    private func restoreLinked(
        _ node: TreeNode, _ content: TreeNode.FileContent, in folder: TargetFolder
    ) async throws {
        let others = linked[FileKey(device: node.device, inode: node.inode)] ?? []
        let other = others.first { $0.content == content }?.path
        // One file cannot have both contents.
        if other == nil, !others.isEmpty { report.incomplete += 1 }
        if let other, let target {
            if folder.isSame(node.name, as: other, below: target) {
                folder.discard(node.name)
                report.present += 1
                return
            }
            let kind = folder.kind(of: node.name)
            if kind == nil || options.replaces && kind != S_IFDIR {
                if try link(node, to: other, in: folder, below: target) { return }
            }
        }
        let outcome = try await restorer.restore(node, content, in: folder)
        // A run that failed may have made it a file of its own.
        if case .present = outcome, let other, let target { relink(node, to: other, in: folder, below: target) }
        count(outcome, node, in: folder)
    }

    /// Links to the file that was restored from the same inode; false if no link is possible there. Such a file is
    /// incomplete: it becomes one of its own.
    private func link(
        _ node: TreeNode, to other: RelativePath, in folder: TargetFolder, below target: TargetFolder
    ) throws -> Bool {
        do throws(FileSystemFailure) {
            try folder.makeLink(node.name, to: other, below: target)
            try folder.publish(node.name, replacing: options.replaces)
            report.restored += 1
            return true
        } catch {
            folder.discard(node.name)
            if TargetFolder.linkRefusals.contains(error.code) {
                report.incomplete += 1
                return false
            }
            // The next run makes the link.
            try error.endIfFull()
            report.problems.append("\(error)")
            return true
        }
    }

    /// Makes a file that is there byte for byte a link again.
    private func relink(_ node: TreeNode, to other: RelativePath, in folder: TargetFolder, below target: TargetFolder) {
        do throws(FileSystemFailure) {
            try folder.makeLink(node.name, to: other, below: target)
            try folder.publish(node.name, replacing: true)
        } catch {
            folder.discard(node.name)
            report.incomplete += 1
        }
    }

    private func restoreSpecial(_ node: TreeNode, in folder: TargetFolder) throws {
        do throws(FileSystemFailure) {
            if let kind = folder.kind(of: node.name) {
                let isSame =
                    switch node.content {
                    case .link(let target): kind == S_IFLNK && folder.target(of: node.name) == target
                    default: kind == S_IFIFO
                    }
                if isSame {
                    folder.discard(node.name)
                    report.present += 1
                    if try !folder.setMetadata(of: node.name, node).isEmpty { report.incomplete += 1 }
                    return
                }
                guard options.replaces, kind != S_IFDIR else { throw folder.failure("create", node.name, EEXIST) }
            }
            try folder.makeSpecial(node.name, node.content)
            let missing = try folder.setMetadata(of: TargetFolder.temporaryName(for: node.name), node)
            try folder.publish(node.name, replacing: options.replaces)
            report.restored += 1
            if !missing.isEmpty { report.incomplete += 1 }
        } catch {
            folder.discard(node.name)
            try error.endIfFull()
            report.problems.append("\(error)")
        }
    }

    private func display(_ path: RelativePath) -> String {
        path == .root ? "the folder" : path.display
    }
}
