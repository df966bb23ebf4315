package import TreeScan

/// Changes of one side that are not on the disk yet.
package struct DiskChanges: Sendable, Hashable {
    /// Folders with other names in them, and entries with other metadata.
    package var entries: Set<RelativePath> = []
    /// Whether there is more than that, such as the contents of files: only a wait for all of the side covers it.
    package var hasMore = false

    package init() {}

    package var isEmpty: Bool { entries.isEmpty && !hasMore }

    /// Notes an entry with other metadata.
    package mutating func noteMetadata(of path: RelativePath, kind: FileKind) {
        // No descriptor of a link or a pipe can be waited for.
        if kind == .regular || kind == .directory { entries.insert(path) } else { hasMore = true }
    }
}
