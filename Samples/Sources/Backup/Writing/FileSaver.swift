internal import Chunking
internal import QoSRuntime
internal import TreeScan

/// Saves single files. Threads share it.
struct FileSaver: Sendable {
    /// The bytes of one read.
    private static let piece = 1 << 20
    static let attempts = 3

    let root: RootFolder
    let sink: BlobSink
    let options: BackupOptions

    /// Saves a regular file.
    ///
    /// - Parameter attempts: The number of readings of a file that changes meanwhile.
    /// - Throws: `BackupError` if the repository fails, and `CancellationError`. Failures of the file are values.
    func save(_ path: RelativePath, attempts: Int = attempts) async throws -> SavedFile {
        do {
            for _ in 1..<attempts {
                let (node, isStable) = try await read(path)
                if isStable { return .saved(node, wasRead: true, note: nil) }
            }
            let (node, isStable) = try await read(path)
            return .saved(node, wasRead: true, note: isStable ? nil : "\(path.display) changed while it was read")
        } catch let failure as FileSystemFailure {
            return SavedFile(failure)
        }
    }

    /// Saves a link or a pipe.
    func saveSpecial(_ path: RelativePath, _ kind: FileKind) throws(FileSystemFailure) -> TreeNode {
        let file = try SourceFile(path, in: root, for: .status)
        var (node, found) = try file.node(name: Array(path.name), content: .pipe)
        guard found == kind else { throw FileSystemFailure(path: path, operation: "read", code: FileReading.wrongKind) }
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

    /// Whether a file is as an earlier tree says, and its content is in the repository.
    func isUnchanged(_ earlier: TreeNode, _ stamp: FileStamp) -> Bool {
        guard case .file(let content) = earlier.content, !earlier.mustReread else { return false }
        let then = FileStamp(
            size: content.size, modified: earlier.modified, changed: earlier.changed, inode: earlier.inode,
            device: earlier.device)
        return then == stamp && content.chunks.allSatisfy { sink.has($0.blob) }
    }

    /// Reads a file once. It is not stable if its size or times changed meanwhile.
    private func read(_ path: RelativePath) async throws -> (TreeNode, isStable: Bool) {
        let reading = try FileReading(path, in: root, at: options.now())
        let chunks = try await chunks(of: reading.file, reading.data)
        let isStable = try chunks.isComplete && reading.isUnchanged()
        return (reading.node(chunks.list, isComplete: chunks.isComplete, isStable: isStable), isStable)
    }

    /// Reads, cuts and stores. Several chunks of one file are compressed and sealed at the same time.
    private func chunks(
        of file: SourceFile, _ extents: [Range<Int64>]
    ) async throws -> (list: [TreeNode.Chunk], isComplete: Bool) {
        let sink = sink
        return try await withThrowingTaskGroup(of: (Int, [TreeNode.Chunk]).self) { group in
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
                        return (number, try await sink.store([bytes]))
                    }
                }
            }
            var isComplete = true
            var failure: FileSystemFailure?
            do {
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
            } catch let found as FileSystemFailure {
                // Thrown here it would cancel the chunks under way. One of them may have the pack with blobs of others.
                failure = found
            }
            var list = [[TreeNode.Chunk]](repeating: [], count: count)
            for try await (number, chunks) in group { list[number] = chunks }
            if let failure { throw failure }
            return (list.flatMap { $0 }, isComplete)
        }
    }
}
