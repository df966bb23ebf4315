internal import TreeScan

/// Walks the trees of snapshots and collects all blobs that they need. Folders that were seen are not read again.
struct ReferenceWalk {
    let source: BlobSource
    /// All blobs that are needed.
    private(set) var needed: Set<Identifier> = []
    /// The blobs that are not there, with the entries that need them.
    var problems: [String] = []
    /// The folders that were read. Not the same as their blobs: a file may have the bytes of a folder's list.
    private var walked: Set<[TreeNode.Chunk]> = []
    private var pending: [(path: RelativePath, chunks: [TreeNode.Chunk])] = []

    init(source: BlobSource) {
        self.source = source
    }

    /// Adds a snapshot. Call `step` until it returns false.
    mutating func begin(_ snapshot: Snapshot) async throws {
        do {
            let root = try await source.root(snapshot.root)
            for chunk in snapshot.root { needed.insert(chunk.blob) }
            if case .folder(let chunks) = root.content { pending.append((.root, chunks)) }
        } catch let failure as BlobFailure {
            problems.append("the record of the folder: \(failure)")
        }
    }

    /// Reads one folder; false at the end.
    mutating func step(_ breathe: () async throws -> Void) async throws -> Bool {
        guard let (path, chunks) = pending.popLast() else { return false }
        try await breathe()
        guard !walked.contains(chunks) else { return true }
        let entries: [TreeNode]
        do {
            entries = try await source.folder(chunks)
        } catch let failure as BlobFailure {
            problems.append("\(path.display)/ and everything below it: \(failure)")
            return true
        }
        for entry in entries {
            let below = path.appending(entry.name)
            switch entry.content {
            case .folder(let chunks): pending.append((below, chunks))
            case .file(let content):
                for chunk in content.chunks {
                    needed.insert(chunk.blob)
                    if !source.index.contains(chunk.blob) {
                        problems.append("\(below.display): blob \(chunk.blob.description.prefix(8)) is missing")
                        break
                    }
                }
            case .link, .pipe: break
            }
        }
        for chunk in chunks { needed.insert(chunk.blob) }
        walked.insert(chunks)
        return true
    }
}
