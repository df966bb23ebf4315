internal import Glibc
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
    private let target: TargetFolder
    private var linked: [FileKey: RelativePath] = [:]
    private var report = RestoreReport()

    /// The number of files, links and pipes that are restored so far.
    public var entries: Int { report.restored + report.present }

    /// Reads the index, and opens or makes the target.
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
        self.target = try TargetFolder(root: target, before: repository.folder.hook)
        source = BlobSource(repository, index: try repository.contents().index(withDoomed: true))
        restorer = FileRestorer(source: source, keys: repository.keys, replaces: options.replaces)
    }

    /// Writes the files.
    ///
    /// - Parameter breathe: Called before each entry. It may wait, and it may throw to end the run.
    /// - Returns: What was restored, and what could not be.
    /// - Throws: `BackupError.noSpace`, `CancellationError`, an error of `breathe`, or `BackupError.damaged` if not
    ///   even the root of the snapshot can be read.
    public func run(breathe: () async throws -> Void = {}) async throws -> RestoreReport {
        defer { lease?.release() }
        let root: TreeNode
        do {
            root = try await source.root(snapshot.root)
        } catch let failure as BlobFailure {
            throw BackupError.damaged(path: "the root of snapshot \(snapshot.shortName)", detail: "\(failure)")
        }
        try await restore(root, into: target, only: options.path.components.map(Array.init)[...], breathe)
        // Names and data on the disk before the run says that it is done.
        try target.synchronize()
        return report
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
            return
        }
        if let name = path.first {
            entries.removeAll { $0.name != name }
            if entries.isEmpty { report.problems.append("\(options.path.display): it is not in the snapshot") }
        }
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
        if !TargetFolder.setMetadata(of: folder.descriptor, node).isEmpty { report.incomplete += 1 }
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
                    if try !link(entry, in: folder) {
                        let outcome = try await restorer.restore(entry, content, in: folder)
                        if case .present = outcome { relink(entry, in: folder) }
                        count(outcome, entry, in: folder)
                    }
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
            if case .file(let content) = node.content { report.bytes += content.size }
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
        guard node.links > 1 else { return }
        linked[FileKey(device: node.device, inode: node.inode)] = folder.path.appending(node.name)
    }

    /// Links to the file that was restored from the same inode; false if there is none, or no link is possible there.
    /// Such a file is incomplete: it becomes one of its own.
    private func link(_ node: TreeNode, in folder: TargetFolder) throws -> Bool {
        guard let other = linked[FileKey(device: node.device, inode: node.inode)], folder.kind(of: node.name) == nil
        else { return false }
        do throws(FileSystemFailure) {
            try folder.makeLink(node.name, to: other, below: target)
            try folder.publish(node.name, replacing: false)
            report.restored += 1
            return true
        } catch {
            folder.discard(node.name)
            if [EPERM, ENOTSUP, EMLINK, EXDEV].contains(error.code) {
                report.incomplete += 1
                return false
            }
            // The next run makes the link.
            try error.endIfFull()
            report.problems.append("\(error)")
            return true
        }
    }

    /// Makes a file that is there byte for byte a link again, if a run that failed made it a file of its own.
    private func relink(_ node: TreeNode, in folder: TargetFolder) {
        guard let other = linked[FileKey(device: node.device, inode: node.inode)],
            !folder.isSame(node.name, as: other, below: target)
        else { return }
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
                    if try !folder.setMetadata(of: node.name, node) { report.incomplete += 1 }
                    return
                }
                guard options.replaces, kind != S_IFDIR else { throw folder.failure("create", node.name, EEXIST) }
            }
            try folder.makeSpecial(node.name, node.content)
            let isOwned = try folder.setMetadata(of: folder.temporaryName(for: node.name), node)
            try folder.publish(node.name, replacing: options.replaces)
            report.restored += 1
            if !isOwned { report.incomplete += 1 }
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
