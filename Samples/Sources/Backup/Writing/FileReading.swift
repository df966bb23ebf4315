internal import Glibc
internal import TreeScan

/// One reading of a regular file: its state before, and the look whether it changed meanwhile.
struct FileReading: Sendable {
    /// The error number for an entry that is no longer of the kind that the walk saw.
    static let wrongKind = ENODEV

    let file: SourceFile
    private let start: Int64
    private let before: TreeNode
    private let size: Int64
    private let extents: [Range<Int64>]?

    /// Opens the file, and reads all but its content.
    ///
    /// - Parameter start: The time, in nanoseconds since 1970.
    init(_ path: RelativePath, in root: RootFolder, at start: Int64) throws(FileSystemFailure) {
        file = try SourceFile(path, in: root, for: .reading)
        self.start = start
        var (node, kind) = try file.node(name: Array(path.name), content: .pipe)
        guard kind == .regular else { throw FileSystemFailure(path: path, operation: "read", code: Self.wrongKind) }
        size = try file.size()
        extents = try file.extents(size: size)
        node.attributes = try file.attributes()
        before = node
    }

    /// The ranges with data.
    var data: [Range<Int64>] { extents ?? [0..<size] }

    /// The bytes of data.
    var length: Int { data.reduce(0) { $0 + $1.count } }

    /// Whether the size and the times are as before.
    func isUnchanged() throws(FileSystemFailure) -> Bool {
        let (after, _) = try file.node(name: before.name, content: .pipe)
        let sizeAfter = try file.size()
        return after.modified == before.modified && after.changed == before.changed && sizeAfter == size
    }

    /// Returns the record.
    ///
    /// - Parameters:
    ///   - isComplete: Whether all data were there. A file that got shorter is saved as what was there.
    ///   - isStable: Whether the file was complete and unchanged after the reading.
    func node(_ chunks: [TreeNode.Chunk], isComplete: Bool, isStable: Bool) -> TreeNode {
        var node = before
        let stamp = FileStamp(
            size: size, modified: node.modified, changed: node.changed, inode: node.inode, device: node.device)
        node.mustReread = !isStable || stamp.isRacy(at: start)
        node.content = .file(
            isComplete ? TreeNode.FileContent(size: size, extents: extents, chunks: chunks) : cut(chunks))
        return node
    }

    /// The content of a file that got shorter: the data that were read, at their places.
    private func cut(_ chunks: [TreeNode.Chunk]) -> TreeNode.FileContent {
        var rest = chunks.reduce(Int64(0)) { $0 + Int64($1.length) }
        var places: [Range<Int64>] = []
        for extent in data where rest > 0 {
            let end = extent.lowerBound + min(rest, Int64(extent.count))
            places.append(extent.lowerBound..<end)
            rest -= end - extent.lowerBound
        }
        let end = places.last?.upperBound ?? 0
        let hasHoles = !places.isEmpty && places != [0..<end]
        return TreeNode.FileContent(size: end, extents: hasHoles ? places : nil, chunks: chunks)
    }
}
