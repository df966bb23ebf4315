internal import Glibc

/// A walk of a folder, one event at a time.
///
/// Every step down is relative to the descriptor of the folder above and follows no link. So a change of the tree
/// during the walk cannot lead it outside. Memory and descriptors are bounded by the depth of the tree, not by its
/// size. The order is the file system's own. One thread at a time.
public final class TreeScanner {
    private let options: ScanOptions
    private let device: UInt64
    private var stack: [OpenFolder] = []
    /// The number of folders above the first one of the stack.
    private var depth = 0
    private var ignoring: IgnoreStack
    private var firstFailure: FileSystemFailure?

    /// The look at the entry of the last event, also of one that is left out; nil after a failure.
    public private(set) var status: EntryStatus?
    /// Whether an ignore file leaves out the entry of the last event.
    public private(set) var isIgnored = false

    /// Opens the root. Only the root may be a link.
    ///
    /// - Parameters:
    ///   - root: The root.
    ///   - start: The folder at which the walk begins. Nothing is reported if it is gone, or if the options or an ignore
    ///     file leave it out.
    ///   - options: The limits.
    /// - Throws: `TreeScanError` when the root is missing, is not a folder or cannot be listed.
    public init(
        root: RootFolder, at start: RelativePath = .root, options: ScanOptions = ScanOptions()
    ) throws(TreeScanError) {
        let folder = try root.list()
        self.options = options
        device = folder.identity.device
        ignoring = IgnoreStack(fileNames: options.ignoreFiles)
        stack = [folder]
        ignoring.enter(folder)
        for name in start.components {
            descend(Array(name))
        }
    }

    /// The ignore files, and the lines of them, that have no effect; the first hundred so far.
    public var ignoreProblems: [IgnoreProblem] { ignoring.problems }

    /// Returns the next event, or nil at the end of the tree.
    public func next() -> ScanEvent? {
        status = nil
        isIgnored = false
        if let failure = firstFailure {
            firstFailure = nil
            return .failure(failure)
        }
        while let folder = stack.last {
            switch folder.next() {
            case .end:
                leave()
            case .failure(let name, let operation, let code):
                if name.isEmpty { leave() }
                let path = name.isEmpty ? folder.path : folder.path.appending(name)
                return .failure(FileSystemFailure(path: path, operation: operation, code: code))
            case .entry(let name, let status):
                return event(name: name, status: status, in: folder)
            }
        }
        return nil
    }

    /// Leaves the folder that the last event entered: nothing in it is reported. Does nothing at the root.
    public func skipFolder() {
        if stack.count > 1 { leave() }
    }

    private func leave() {
        stack.removeLast()
        ignoring.leave()
    }

    /// Goes down one level towards the start of the walk, without a report of the entries beside it.
    private func descend(_ name: [UInt8]) {
        guard let folder = stack.popLast() else { return }
        do throws(FileSystemFailure) {
            let status = try folder.status(of: name)
            guard FileKind(mode: status.st_mode) == .directory, !isExcluded(name, status),
                !ignoring.isIgnored(name, isFolder: true)
            else { return }
            let child = try folder.open(name)
            ignoring.enter(child)
            stack = [child]
            depth += 1
        } catch {
            if !error.isVanished { firstFailure = error }
        }
    }

    private func event(name: [UInt8], status: stat, in folder: OpenFolder) -> ScanEvent {
        let path = folder.path.appending(name)
        self.status = EntryStatus(status)
        switch FileKind(mode: status.st_mode) {
        case .regular:
            isIgnored = ignoring.isIgnored(name, isFolder: false)
            return isIgnored ? .leftOut(path, .regular) : .file(path, FileStamp(status))
        case .directory:
            return enter(name, path: path, status: status, in: folder)
        case let kind:
            isIgnored = ignoring.isIgnored(name, isFolder: false)
            return .leftOut(path, kind)
        }
    }

    private func enter(_ name: [UInt8], path: RelativePath, status: stat, in folder: OpenFolder) -> ScanEvent {
        isIgnored = ignoring.isIgnored(name, isFolder: true)
        guard !isIgnored, !isExcluded(name, status) else { return .leftOut(path, .directory) }
        guard depth + stack.count < options.maximumDepth else {
            self.status = nil
            return .failure(FileSystemFailure(path: path, operation: "enter (too deep)", code: ENAMETOOLONG))
        }
        do throws(FileSystemFailure) {
            let child = try folder.open(name)
            stack.append(child)
            ignoring.enter(child)
            return .folder(path)
        } catch {
            self.status = nil
            return .failure(error)
        }
    }

    private func isExcluded(_ name: [UInt8], _ status: stat) -> Bool {
        options.excludedNames.contains(String(decoding: name, as: UTF8.self))
            || options.excludedFolders.contains(FolderIdentity(status))
            || (options.oneFileSystem && UInt64(status.st_dev) != device)
    }
}
