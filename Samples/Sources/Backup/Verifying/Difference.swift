public import TreeScan

/// One thing in which an entry of a folder is not as in a snapshot.
public struct Difference: Sendable, Hashable, CustomStringConvertible {
    /// The thing.
    public enum Aspect: String, Sendable, CaseIterable {
        /// The entry is in the snapshot only. For a folder, with everything below it.
        case missing
        /// The entry is in the folder only. For a folder, with everything below it.
        case added
        /// One is a file and the other is a folder, for example.
        case kind
        /// The length of a file.
        case size
        /// The bytes of a file.
        case content
        /// The target of a symbolic link.
        case target
        /// The permission bits.
        case mode
        /// The number of the owner.
        case owner
        /// The number of the group.
        case group
        /// The time of the last change of the content.
        case time
        /// The extended attributes.
        case attributes
        /// The other names of the same file.
        case links
    }

    /// The entry, below the folder.
    public let path: RelativePath
    /// The thing.
    public let aspect: Aspect
    /// The two values, for people.
    public let detail: String

    /// One line with the path and the two values.
    public var description: String { "\(path == .root ? "the folder itself" : path.display): \(detail)" }
}

/// What is compared, and what is not.
public struct VerifyOptions: Sendable {
    /// The entry to compare, with everything below it; the root for all.
    public var path: RelativePath = .root
    /// The patterns of the backup, as in `BackupOptions`. Entries that match are not compared.
    public var excludes: [String] = []
    /// The ignore files of the backup, as in `BackupOptions`. What those in the folder name is not compared.
    public var ignoreFiles: [String] = []

    /// Makes options that compare all.
    public init() {}
}

/// The result of a comparison.
public struct VerifyReport: Sendable {
    /// The number of entries of the snapshot that were compared.
    public internal(set) var entries = 0
    /// The bytes of file contents that were compared.
    public internal(set) var bytes: Int64 = 0
    /// The number of differences.
    public internal(set) var differences = 0
    /// The entries that could not be compared because the repository is damaged, for people.
    public internal(set) var damage: [String] = []
    /// The entries that could not be compared because the folder does not let them be read, for people.
    public internal(set) var unreadable: [String] = []
}
