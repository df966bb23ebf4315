internal import Chunking
internal import QoSRuntime
internal import TreeScan

/// Saves single files. Threads share it.
struct FileSaver: Sendable {
    /// The bytes of one read.
    private static let piece = 1 << 20
    private static let attempts = 3

    let root: RootFolder
    let sink: BlobSink
    let options: BackupOptions

    /// Saves a regular file, or takes its record from an earlier tree if it is as it was.
    ///
    /// - Throws: `BackupError` if the repository fails, and `CancellationError`. Failures of the file are values.
    func save(_ path: RelativePath, stamp: FileStamp, earlier: TreeNode?) async throws -> SavedFile {
        if let earlier, isUnchanged(earlier, stamp) { return .saved(earlier, wasRead: false, note: nil) }
        do {
            for _ in 1..<Self.attempts {
                let (node, isStable) = try await read(path)
                if isStable { return .saved(node, wasRead: true, note: nil) }
            }
            let (node, isStable) = try await read(path)
            return .saved(node, wasRead: true, note: isStable ? nil : "\(path.display) changed while it was read")
        } catch let failure as FileSystemFailure {
            return failure.isVanished || failure.code == wrongKind ? .vanished : .failed("\(failure)")
        }
    }

    /// Saves a link or a pipe.
    func saveSpecial(_ path: RelativePath, _ kind: FileKind) throws(FileSystemFailure) -> TreeNode {
        let file = try SourceFile(path, in: root, for: .status)
        var (node, found) = try file.node(name: Array(path.name), content: .pipe)
        guard found == kind else { throw FileSystemFailure(path: path, operation: "read", code: wrongKind) }
        if kind == .symbolicLink { node.content = .link(target: try file.linkTarget()) }
        return node
    }

    /// The record of a folder, without its entries.
    func folder(_ path: RelativePath) throws(FileSystemFailure) -> TreeNode {
        let file = try SourceFile(path, in: root, for: .listing)
        var (node, _) = try file.node(name: Array(path.name), content: .folder([]))
        node.attributes = try file.attributes()
        return node
    }

    private func isUnchanged(_ earlier: TreeNode, _ stamp: FileStamp) -> Bool {
        guard case .file(let content) = earlier.content, !earlier.mustReread else { return false }
        let then = FileStamp(
            size: content.size, modified: earlier.modified, changed: earlier.changed, inode: earlier.inode,
            device: earlier.device)
        return then == stamp && content.chunks.allSatisfy { sink.has($0.blob) }
    }

    /// Reads a file once. It is not stable if its size or times changed meanwhile.
    private func read(_ path: RelativePath) async throws -> (TreeNode, isStable: Bool) {
        let file = try SourceFile(path, in: root, for: .reading)
        let start = options.now()
        let name = Array(path.name)
        var (node, kind) = try file.node(name: name, content: .pipe)
        guard kind == .regular else { throw FileSystemFailure(path: path, operation: "read", code: wrongKind) }
        let size = try file.size()
        let extents = try file.extents(size: size)
        node.attributes = try file.attributes()
        let chunks = try await chunks(of: file, extents ?? [0..<size])
        let (after, _) = try file.node(name: name, content: .pipe)
        let sizeAfter = try file.size()
        let isStable =
            after.modified == node.modified && after.changed == node.changed && sizeAfter == size && chunks.isComplete
        let stamp = FileStamp(
            size: size, modified: node.modified, changed: node.changed, inode: node.inode, device: node.device)
        node.mustReread = !isStable || stamp.isRacy(at: start)
        let stored = chunks.list.reduce(Int64(0)) { $0 + Int64($1.length) }
        // A file that got shorter is saved as what was there.
        node.content = .file(
            chunks.isComplete
                ? TreeNode.FileContent(size: size, extents: extents, chunks: chunks.list)
                : TreeNode.FileContent(size: stored, extents: nil, chunks: chunks.list))
        return (node, isStable)
    }

    /// Reads, cuts and stores. Several chunks of one file are compressed and sealed at the same time.
    private func chunks(
        of file: SourceFile, _ extents: [Range<Int64>]
    ) async throws -> (list: [TreeNode.Chunk], isComplete: Bool) {
        let sink = sink
        return try await withThrowingTaskGroup(of: (Int, TreeNode.Chunk).self) { group in
            var stream = ChunkStream(sink.chunker)
            var count = 0
            func startChunks() async throws {
                while stream.hasNext {
                    // All files share the slots: the memory does not grow with their number.
                    try await sink.slots.wait()
                    guard let bytes = stream.next() else { return sink.slots.signal() }
                    let number = count
                    count += 1
                    group.addTask {
                        defer { sink.slots.signal() }
                        return (number, try await sink.store(bytes))
                    }
                }
            }
            var isComplete = true
            reading: for extent in extents {
                var position = extent.lowerBound
                while position < extent.upperBound {
                    try Task.checkCancellation()
                    let count = min(Self.piece, Int(extent.upperBound - position))
                    let bytes = try await file.read(from: position, count: count)
                    guard !bytes.isEmpty else {
                        isComplete = false
                        break reading
                    }
                    position += Int64(bytes.count)
                    stream.append(bytes)
                    try await startChunks()
                }
            }
            stream.finish()
            try await startChunks()
            var list = [TreeNode.Chunk?](repeating: nil, count: count)
            for try await (number, chunk) in group { list[number] = chunk }
            return (list.compactMap { $0 }, isComplete)
        }
    }

    /// ENODEV: the entry is no longer of the kind that the walk saw.
    private var wrongKind: Int32 { 19 }
}
