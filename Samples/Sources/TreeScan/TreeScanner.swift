internal import Glibc

/// A walk of a folder, one event at a time.
///
/// Every step down is relative to the descriptor of the folder above and follows no link. So a change of the tree
/// during the walk cannot lead it outside. Memory and descriptors are bounded by the depth of the tree, not by its
/// size. The order is the file system's own. One thread at a time.
public final class TreeScanner {
    private let options: ScanOptions
    private let device: UInt64
    private var stack: [OpenFolder]

    /// The look at the entry of the last event, also of one that is left out; nil after a failure.
    public private(set) var status: EntryStatus?

    /// Opens the root. Only the root may be a link.
    ///
    /// - Throws: `TreeScanError` when the root is missing, is not a folder or cannot be listed.
    public init(root: RootFolder, options: ScanOptions = ScanOptions()) throws(TreeScanError) {
        let folder = try root.list()
        self.options = options
        self.device = folder.identity.device
        self.stack = [folder]
    }

    /// Returns the next event, or nil at the end of the tree.
    public func next() -> ScanEvent? {
        status = nil
        while let folder = stack.last {
            switch folder.next() {
            case .end:
                stack.removeLast()
            case .failure(let name, let operation, let code):
                if name.isEmpty { stack.removeLast() }
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
        if stack.count > 1 { stack.removeLast() }
    }

    private func event(name: [UInt8], status: stat, in folder: OpenFolder) -> ScanEvent {
        let path = folder.path.appending(name)
        self.status = EntryStatus(status)
        switch FileKind(mode: status.st_mode) {
        case .regular:
            return .file(path, FileStamp(status))
        case .directory:
            return enter(name, path: path, status: status, in: folder)
        case let kind:
            return .leftOut(path, kind)
        }
    }

    private func enter(_ name: [UInt8], path: RelativePath, status: stat, in folder: OpenFolder) -> ScanEvent {
        guard !isExcluded(name, status) else { return .leftOut(path, .directory) }
        guard stack.count < options.maximumDepth else {
            self.status = nil
            return .failure(FileSystemFailure(path: path, operation: "enter (too deep)", code: ENAMETOOLONG))
        }
        do throws(FileSystemFailure) {
            stack.append(try folder.open(name))
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
