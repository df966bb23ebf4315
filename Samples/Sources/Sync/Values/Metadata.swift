package import TreeScan

/// What is in step beside the content.
public struct Metadata: Sendable, Hashable, Codable {
    /// The permission bits, 0 to 0o7777.
    public var mode: UInt32
    /// The owner's number. 0 on both sides unless the process may set owners.
    public var owner: UInt32
    /// The group's number. 0 on both sides unless the process may set owners.
    public var group: UInt32
    /// The time of the last change of the content, in nanoseconds since 1970. 0 for folders.
    public var modified: Int64

    /// Makes metadata from its parts.
    public init(mode: UInt32, owner: UInt32 = 0, group: UInt32 = 0, modified: Int64 = 0) {
        self.mode = mode
        self.owner = owner
        self.group = group
        self.modified = modified
    }
}

extension Metadata {
    /// The metadata of an entry, as far as it is kept in step.
    package init(of status: EntryStatus, owners: Bool) {
        self.init(
            mode: status.kind == .symbolicLink ? 0o777 : status.mode, owner: owners ? status.owner : 0,
            group: owners ? status.group : 0, modified: status.kind == .directory ? 0 : status.stamp.modified)
    }
}
