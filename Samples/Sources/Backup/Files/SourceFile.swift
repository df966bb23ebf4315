internal import Glibc
internal import QoSRuntime
internal import SafeFiles
internal import TreeScan

/// An open entry of the folder that is saved: its status, attributes, holes and bytes. Closed at the end of its life.
final class SourceFile: Sendable {
    let path: RelativePath
    private let descriptor: Int32

    /// Opens an entry below the root; no link is followed.
    init(_ path: RelativePath, in root: RootFolder, for access: RootFolder.Access) throws(FileSystemFailure) {
        descriptor = try root.descriptor(of: path, for: access)
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// The entry's record at this moment, without its content.
    func node(name: [UInt8], content: TreeNode.Content) throws(FileSystemFailure) -> (TreeNode, FileKind) {
        let status = try status()
        let node = TreeNode(
            name: name, mode: UInt32(status.st_mode) & 0o7777, owner: status.st_uid, group: status.st_gid,
            modified: FileTime.number(status.st_mtim), changed: FileTime.number(status.st_ctim),
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), links: UInt64(status.st_nlink),
            mustReread: false, attributes: [], content: content)
        let kind: FileKind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .fifo
            default: .device
            }
        return (node, kind)
    }

    /// The length in bytes.
    func size() throws(FileSystemFailure) -> Int64 {
        max(0, Int64(try status().st_size))
    }

    /// The target of the symbolic link, readlinkat(2).
    func linkTarget() throws(FileSystemFailure) -> [UInt8] {
        guard let target = LinkTarget.read([], in: descriptor) else {
            throw FileSystemFailure(path: path, operation: "read the link", code: errno)
        }
        return target
    }

    /// The ranges with data, by lseek(2); nil if there are no holes.
    func extents(size: Int64) throws(FileSystemFailure) -> [Range<Int64>]? {
        let seekData: Int32 = 3
        let seekHole: Int32 = 4
        var extents: [Range<Int64>] = []
        var position: Int64 = 0
        while position < size {
            let start = Int64(lseek(descriptor, off_t(position), seekData))
            if start < 0 {
                if errno == ENXIO { break }
                // The file system knows no holes.
                return nil
            }
            // The file may have grown since its size was looked at.
            guard start < size else { break }
            let end = Int64(lseek(descriptor, off_t(start), seekHole))
            guard end > start else { return nil }
            extents.append(start..<min(end, size))
            position = end
        }
        return extents == [0..<size] || size == 0 ? nil : extents.filter { !$0.isEmpty }
    }

    /// The extended attributes, by name; none where the file system has none. Attributes that may not be read are left out.
    func attributes() throws(FileSystemFailure) -> [TreeNode.Attribute] {
        guard let names = ExtendedAttributes.names(of: descriptor) else {
            throw FileSystemFailure(path: path, operation: "list the attributes", code: errno)
        }
        return names.compactMap { name in
            ExtendedAttributes.value(of: name, of: descriptor).map { TreeNode.Attribute(name: name, value: $0) }
        }
    }

    /// Reads up to `count` bytes. It waits for its turn behind I/O of higher classes, and blocks a worker of the class.
    func read(from offset: Int64, count: Int) async throws -> [UInt8] {
        let descriptor = descriptor
        let (bytes, code) = try await IOThrottle.process.perform(bytes: count) { granted in
            FileBytes.read(descriptor, from: Int(offset), count: min(count, granted))
        }
        guard code == 0 else { throw FileSystemFailure(path: path, operation: "read", code: code) }
        return bytes
    }

    /// Reads a range at once, without a turn. The result is shorter if the file is.
    func readNow(_ range: Range<Int64>) throws(FileSystemFailure) -> [UInt8] {
        let (bytes, code) = FileBytes.read(descriptor, from: Int(range.lowerBound), count: range.count)
        guard code == 0 else { throw FileSystemFailure(path: path, operation: "read", code: code) }
        return bytes
    }

    private func status() throws(FileSystemFailure) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw FileSystemFailure(path: path, operation: "stat", code: errno)
        }
        return status
    }
}
