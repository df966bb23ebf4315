public import TreeScan

/// Looks into snapshots: single entries, lists of folders, and contents. Threads may share it.
///
/// It holds a lease on the repository for its life, so no prune takes away what it may read. A look costs the folders on
/// the way, not the whole snapshot.
public final class SnapshotReader: Sendable {
    /// An entry that the snapshot does not have.
    public struct Missing: Error, CustomStringConvertible {
        /// The path below the snapshot's folder.
        public let path: RelativePath

        /// The failure and its remedy.
        public var description: String { "\(path.display) is not in the snapshot. Choose another snapshot or path." }
    }

    private let lease: Lease?
    private let source: BlobSource

    /// Reads the index of a repository. Blocks the thread on its files.
    ///
    /// - Throws: `BackupError`.
    public init(_ repository: Repository) throws {
        // A repository on a medium that cannot be written has no prune either.
        lease = try? Lease(.read, in: repository.folder)
        source = BlobSource(repository, index: try repository.contents().index(withDoomed: true))
    }

    deinit {
        lease?.release()
    }

    /// Returns the entry of a path below the folder of a snapshot; the folder itself for the root.
    ///
    /// - Throws: ``Missing``, `BackupError.damaged`, `CancellationError`.
    public func entry(at path: RelativePath, in snapshot: Snapshot) async throws -> TreeNode {
        try await explaining(snapshot, path) {
            var node = try await source.root(snapshot.root)
            for name in path.components {
                guard case .folder(let chunks) = node.content,
                    let next = try await source.folder(chunks).first(where: { $0.name.elementsEqual(name) })
                else { throw Missing(path: path) }
                node = next
            }
            return node
        }
    }

    /// Returns the entries of a folder, in the order of the names' bytes.
    ///
    /// - Throws: As ``entry(at:in:)``; ``Missing`` for another entry than a folder.
    public func entries(of path: RelativePath, in snapshot: Snapshot) async throws -> [TreeNode] {
        guard case .folder(let chunks) = try await entry(at: path, in: snapshot).content else {
            throw Missing(path: path)
        }
        return try await explaining(snapshot, path) { try await source.folder(chunks) }
    }

    /// The bytes of a file, a piece of some megabytes at most at a time, with zeros for its holes.
    public struct Pieces: Sendable {
        private static let piece: Int64 = 1 << 20

        private let source: BlobSource
        private let size: Int64
        private var places: DataPlaces
        private var chunks: ArraySlice<TreeNode.Chunk>
        private var ready: ArraySlice<(offset: Int64, bytes: [UInt8])> = []
        private var position: Int64 = 0

        init(_ content: TreeNode.FileContent, _ source: BlobSource) {
            self.source = source
            size = content.size
            places = DataPlaces(content)
            chunks = content.chunks[...]
        }

        /// Returns the next piece; nil at the end.
        ///
        /// - Throws: `BackupError.damaged`, `CancellationError`.
        public mutating func next() async throws -> [UInt8]? {
            while ready.isEmpty, let chunk = chunks.popFirst() {
                do {
                    let bytes = try await source.bytes(of: chunk)
                    ready = places.take(bytes.count).map { (offset: $0.offset, bytes: Array(bytes[$0.range])) }[...]
                } catch let failure as BlobFailure {
                    throw BackupError.damaged(path: "the content of a file", detail: "\(failure)")
                }
            }
            let end = ready.first?.offset ?? size
            if position < end {
                let count = min(Self.piece, end - position)
                position += count
                return [UInt8](repeating: 0, count: Int(count))
            }
            guard let (offset, bytes) = ready.popFirst() else { return nil }
            position = offset + Int64(bytes.count)
            return bytes
        }
    }

    /// Returns the bytes of a file, piece by piece.
    public func pieces(of content: TreeNode.FileContent) -> Pieces { Pieces(content, source) }

    /// One difference of two snapshots.
    public struct Change: Sendable, Hashable {
        /// What the second snapshot has.
        public enum Kind: String, Sendable, Codable {
            case added
            case removed
            case changed
        }

        /// The path below the folders.
        public let path: RelativePath
        /// The kind.
        public let kind: Kind
        /// The entry of the second snapshot, or the one that is gone.
        public let node: TreeNode
    }

    /// Compares two snapshots below a path. A folder that both have with the same content is not looked into; one that
    /// only one of them has is one change.
    ///
    /// - Parameter limit: The largest number of changes.
    /// - Returns: The changes by path, and whether these are all.
    /// - Throws: As ``entry(at:in:)``.
    public func changes(
        from old: Snapshot, to new: Snapshot, below path: RelativePath, limit: Int
    ) async throws -> (changes: [Change], areAll: Bool) {
        var changes: [Change] = []
        var folders: [(path: RelativePath, old: [TreeNode.Chunk], new: [TreeNode.Chunk])] = []
        let (left, right) = (try await entry(at: path, in: old), try await entry(at: path, in: new))
        if case .folder(let first) = left.content, case .folder(let second) = right.content {
            folders = [(path, first, second)]
        } else if left.content != right.content {
            changes = [Change(path: path, kind: .changed, node: right)]
        }
        while let folder = folders.popLast() {
            try Task.checkCancellation()
            // The list of a folder has the times of its entries, so equal lists have equal contents.
            guard folder.old != folder.new else { continue }
            let before = try await explaining(old, folder.path) { try await source.folder(folder.old) }
            let after = try await explaining(new, folder.path) { try await source.folder(folder.new) }
            let known = Dictionary(before.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
            let names = Set(after.map(\.name))
            for node in before where !names.contains(node.name) {
                changes.append(Change(path: folder.path.appending(node.name), kind: .removed, node: node))
            }
            for node in after {
                let place = folder.path.appending(node.name)
                guard let other = known[node.name] else {
                    changes.append(Change(path: place, kind: .added, node: node))
                    continue
                }
                switch (other.content, node.content) {
                case (.folder(let first), .folder(let second)): folders.append((place, first, second))
                case (let first, let second) where first != second || other.modified != node.modified:
                    changes.append(Change(path: place, kind: .changed, node: node))
                default: break
                }
            }
            guard changes.count <= limit else { break }
        }
        let sorted = changes.sorted { $0.path < $1.path }
        return (Array(sorted.prefix(limit)), sorted.count <= limit)
    }

    private func explaining<Value>(
        _ snapshot: Snapshot, _ path: RelativePath, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let failure as BlobFailure {
            throw BackupError.damaged(
                path: "\(path == .root ? "the root" : path.display) of snapshot \(snapshot.shortName)",
                detail: "\(failure)")
        }
    }
}
