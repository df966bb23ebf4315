public import TreeScan

extension Repository {
    /// Walks through all entries of a snapshot, each folder before its entries, in the order of the names' bytes.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot.
    ///   - path: Entries elsewhere are left out; the root for all.
    ///   - body: Gets each entry with its path.
    /// - Returns: The folders that cannot be read, for people.
    /// - Throws: `BackupError.unknownPath` if nothing of that path is in the snapshot, and the errors of `body`.
    public func list(
        _ snapshot: Snapshot, below path: RelativePath = .root, _ body: (RelativePath, TreeNode) throws -> Void
    ) async throws -> [String] {
        let lease = try? Lease(.read, in: folder)
        defer { lease?.release() }
        let source = BlobSource(self, index: try contents().index(withDoomed: true))
        let root: TreeNode
        do {
            root = try await source.root(snapshot.root)
        } catch let failure as BlobFailure {
            throw BackupError.damaged(path: "the root of snapshot \(snapshot.shortName)", detail: "\(failure)")
        }
        var problems: [String] = []
        var pending: [(path: RelativePath, node: TreeNode)] = [(.root, root)]
        let wanted = path.components.map(Array.init)
        var isThere = false
        while let (place, node) = pending.popLast() {
            let components = place.components.map(Array.init)
            guard zip(components, wanted).allSatisfy({ $0 == $1 }) else { continue }
            if components.count >= wanted.count {
                isThere = true
                if place != .root { try body(place, node) }
            }
            guard case .folder(let chunks) = node.content else { continue }
            do {
                pending += try await source.folder(chunks).reversed().map { (place.appending($0.name), $0) }
            } catch let failure as BlobFailure {
                problems.append("\(place.display)/ and everything below it: \(failure)")
            }
        }
        // Behind a folder that cannot be read, nobody knows.
        guard isThere || !problems.isEmpty else { throw BackupError.unknownPath(path.display) }
        return problems
    }
}
