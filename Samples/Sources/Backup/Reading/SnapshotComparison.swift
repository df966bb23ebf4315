public import TreeScan

/// An entry that is not the same in two snapshots.
public struct SnapshotChange: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a change.
    public enum Kind: String, Sendable {
        /// The second snapshot has it only.
        case added = "+"
        /// The first snapshot has it only.
        case removed = "-"
        /// The content, the target of a link, or the kind is another one.
        case content = "M"
        /// Mode, owner, time or attributes are others.
        case metadata = "U"
    }

    /// The kind.
    public let kind: Kind
    /// The entry, below the folder.
    public let path: RelativePath

    /// One line: a sign, and the path.
    public var description: String { "\(kind.rawValue)  \(path.display)" }
}

extension Repository {
    /// Compares two snapshots. Folders that are the same blob on both sides are not read.
    ///
    /// - Parameter body: Gets each change, in the order of the names' bytes, folders before their entries.
    /// - Returns: The folders that cannot be read, for people.
    public func compare(
        _ first: Snapshot, _ second: Snapshot, _ body: (SnapshotChange) throws -> Void
    ) async throws -> [String] {
        let lease = try? Lease(.read, in: folder)
        defer { lease?.release() }
        let source = BlobSource(self, index: try contents().index(withDoomed: true))
        var problems: [String] = []
        func entries(_ node: TreeNode?, at path: RelativePath) async throws -> [[UInt8]: TreeNode] {
            guard let node, case .folder(let chunks) = node.content else { return [:] }
            do {
                return Dictionary(try await source.folder(chunks).map { ($0.name, $0) }) { first, _ in first }
            } catch let failure as BlobFailure {
                problems.append("\(path.display)/ and everything below it: \(failure)")
                return [:]
            }
        }
        var roots: [TreeNode] = []
        for snapshot in [first, second] {
            do {
                roots.append(try await source.root(snapshot.root))
            } catch let failure as BlobFailure {
                throw BackupError.damaged(path: "the root of snapshot \(snapshot.shortName)", detail: "\(failure)")
            }
        }
        var pending: [(path: RelativePath, old: TreeNode?, new: TreeNode?)] = [(.root, roots[0], roots[1])]
        while let (path, old, new) = pending.popLast() {
            // Other entries change what is only on the way.
            let isOnWay = first.isOnWay(path) && second.isOnWay(path)
            if path != .root, !isOnWay, let kind = SnapshotChange.Kind(from: old, to: new) {
                try body(SnapshotChange(kind: kind, path: path))
            }
            if let old, let new, old.content == new.content { continue }
            let (before, after) = (try await entries(old, at: path), try await entries(new, at: path))
            let names = Set(before.keys).union(after.keys).sorted { $0.lexicographicallyPrecedes($1) }
            pending += names.reversed().map { (path.appending($0), before[$0], after[$0]) }
        }
        return problems
    }

    /// Passes the content of a regular file of a snapshot on, chunk by chunk.
    ///
    /// - Parameter body: Gets the bytes, holes as zeros, in pieces of 16 MiB at most.
    /// - Throws: `BackupError.unknownPath`, `.notAFile`, `.damaged`, and the errors of `body`.
    public func dump(
        _ path: RelativePath, of snapshot: Snapshot, _ body: ([UInt8]) throws -> Void
    ) async throws {
        let lease = try? Lease(.read, in: folder)
        defer { lease?.release() }
        let source = BlobSource(self, index: try contents().index(withDoomed: true))
        do {
            var node = try await source.root(snapshot.root)
            for name in path.components {
                guard case .folder(let chunks) = node.content,
                    let next = try await source.folder(chunks).first(where: { $0.name == Array(name) })
                else { throw BackupError.unknownPath(path.display) }
                node = next
            }
            guard case .file(let content) = node.content else { throw BackupError.notAFile(path.display) }
            try await dump(content, from: source, body)
        } catch let failure as BlobFailure {
            throw BackupError.damaged(path: path.display, detail: "\(failure)")
        }
    }

    private func dump(
        _ content: TreeNode.FileContent, from source: BlobSource, _ body: ([UInt8]) throws -> Void
    ) async throws {
        var places = DataPlaces(content)
        var end: Int64 = 0
        func fill(to offset: Int64) throws {
            while end < offset {
                try Task.checkCancellation()
                let count = min(1 << 20, offset - end)
                try body([UInt8](repeating: 0, count: Int(count)))
                end += count
            }
        }
        for chunk in content.chunks {
            try Task.checkCancellation()
            let bytes = try await source.bytes(of: chunk)
            for (offset, range) in places.take(bytes.count) {
                try fill(to: offset)
                try body(Array(bytes[range]))
                end += Int64(range.count)
            }
        }
        try fill(to: content.size)
    }
}

extension SnapshotChange.Kind {
    /// Compares two records; nil if they are the same. The entries of a folder have changes of their own.
    fileprivate init?(from old: TreeNode?, to new: TreeNode?) {
        switch (old, new) {
        case (nil, nil): return nil
        case (nil, _?): self = .added
        case (_?, nil): self = .removed
        case (let old?, let new?):
            if case .folder = old.content, case .folder = new.content {
                guard old.metadata != new.metadata else { return nil }
                self = .metadata
            } else if old.content != new.content {
                self = .content
            } else {
                guard old.metadata != new.metadata else { return nil }
                self = .metadata
            }
        }
    }
}

extension TreeNode {
    /// The record without the content, and without what only one file system knows.
    fileprivate var metadata: TreeNode {
        var node = self
        (node.content, node.mustReread) = (.pipe, false)
        (node.changed, node.device, node.inode, node.links) = (0, 0, 0, 0)
        return node
    }
}
