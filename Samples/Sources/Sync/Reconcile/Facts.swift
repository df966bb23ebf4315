/// A version of a file's content, told from others without its bytes.
public enum FileVersion: Sendable, Hashable {
    /// The content at the end of the last sync.
    case archived
    /// A content that A alone has.
    case a
    /// A content that B alone has.
    case b
    /// A content that both have, byte for byte.
    case common
}

/// The content of an entry.
public enum Content: Sendable, Hashable {
    /// A folder. Its entries have facts of their own.
    case folder
    /// A regular file.
    case file(FileVersion)
    /// A symbolic link with the bytes of its target.
    case link([UInt8])
    /// A named pipe.
    case pipe

    fileprivate var kind: Int {
        switch self {
        case .folder: 0
        case .file: 1
        case .link: 2
        case .pipe: 3
        }
    }
}

/// What one side has under a name.
public struct Facts: Sendable, Hashable {
    /// The content.
    public var content: Content
    /// The metadata.
    public var metadata: Metadata

    /// Makes facts.
    public init(_ content: Content, _ metadata: Metadata) {
        self.content = content
        self.metadata = metadata
    }
}

/// What both sides had under a name at the end of the last sync. The contents were the same.
public struct ArchivedFacts: Sendable, Hashable {
    /// What A had.
    public var a: Facts
    /// What B had.
    public var b: Facts

    /// Makes facts.
    public init(a: Facts, b: Facts) {
        self.a = a
        self.b = b
    }

    subscript(side: Side) -> Facts { side == .a ? a : b }
}

/// What happened to a name on one side since the last sync.
public enum Change: String, Sendable, Hashable, CaseIterable {
    /// Nothing.
    case none = "-"
    /// It is new.
    case created = "new"
    /// The content is another one.
    case content = "changed"
    /// The mode, the owner or the time is another one.
    case metadata = "attributes"
    /// It is of another kind.
    case type = "kind"
    /// It is gone.
    case deleted = "removed"

    /// Compares the facts of one side.
    public init(from before: Facts?, to now: Facts?) {
        switch (before, now) {
        case (nil, nil): self = .none
        case (nil, _?): self = .created
        case (_?, nil): self = .deleted
        case (let before?, let now?):
            if before.content.kind != now.content.kind {
                self = .type
            } else if before.content != now.content {
                self = .content
            } else {
                self = before.metadata != now.metadata ? .metadata : .none
            }
        }
    }

    /// Whether the side has a content that the last sync did not see.
    public var isNewContent: Bool { self == .created || self == .content || self == .type }
}
