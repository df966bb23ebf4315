internal import Glibc

/// The entries of one folder.
public struct FolderListing: Sendable {
    /// One entry.
    public struct Entry: Sendable {
        /// The bytes of its name.
        public let name: [UInt8]
        /// Its kind, size and times.
        public let status: EntryStatus
    }

    /// The entries, in the order of their names' bytes.
    public private(set) var entries: [Entry] = []
    /// Whether all entries are listed.
    public private(set) var isComplete = true

    /// Lists a folder below a root. Follows no link.
    ///
    /// - Parameter limit: The largest number of entries.
    /// - Throws: `FileSystemFailure`. A file fails with `ENOTDIR`.
    public init(of path: RelativePath, in root: RootFolder, limit: Int) throws(FileSystemFailure) {
        let folder = try OpenFolder(owning: try root.descriptor(of: path, for: .listing), path: path)
        listing: while true {
            switch folder.next() {
            case .end: break listing
            case .failure(let name, let operation, let code):
                // An entry that is gone meanwhile is none.
                guard name.isEmpty else { continue }
                throw FileSystemFailure(path: path, operation: operation, code: code)
            case .entry(let name, let status):
                guard entries.count < limit else {
                    isComplete = false
                    break listing
                }
                entries.append(Entry(name: name, status: EntryStatus(status)))
            }
        }
        entries.sort { $0.name.lexicographicallyPrecedes($1.name) }
    }
}
