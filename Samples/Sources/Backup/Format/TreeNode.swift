/// One entry of a folder in a snapshot.
public struct TreeNode: Sendable, Hashable {
    /// The kind, with what only this kind has.
    public enum Content: Sendable, Hashable {
        /// A regular file.
        case file(FileContent)
        /// A folder: the chunks of the list of its entries.
        case folder([Chunk])
        /// A symbolic link with the bytes of its target.
        case link(target: [UInt8])
        /// A named pipe.
        case pipe
    }

    /// The content of a regular file.
    public struct FileContent: Sendable, Hashable {
        /// The length in bytes, holes included.
        public var size: Int64
        /// The ranges that have data, ascending and apart; nil if the file has no holes.
        public var extents: [Range<Int64>]?
        /// The data without the holes.
        public var chunks: [Chunk]
    }

    /// A blob of a content, and the length of it.
    public struct Chunk: Sendable, Hashable, Codable {
        /// The blob.
        public var blob: Identifier
        /// The bytes of the plain text.
        public var length: Int
    }

    /// An extended attribute, xattr(7).
    public struct Attribute: Sendable, Hashable {
        /// The name with its namespace, without a terminator.
        public var name: [UInt8]
        /// The value.
        public var value: [UInt8]
    }

    /// The bytes of the name: neither empty, `.`, `..`, nor with a slash or a zero. Empty for the root alone.
    public var name: [UInt8]
    /// The permission bits, 0 to 0o7777.
    public var mode: UInt32
    /// The owner's number.
    public var owner: UInt32
    /// The group's number.
    public var group: UInt32
    /// The time of the last change of the content, in nanoseconds since 1970.
    public var modified: Int64
    /// The time of the last change of the inode, in nanoseconds since 1970.
    public var changed: Int64
    /// The device of the inode.
    public var device: UInt64
    /// The inode's number. Entries with the same device and inode, and with several links, are one file.
    public var inode: UInt64
    /// The number of hard links.
    public var links: UInt64
    /// Whether the next run must read it again, because a later write may have left the times as they are.
    public var mustReread: Bool
    /// The extended attributes, by name.
    public var attributes: [Attribute]
    /// The content.
    public var content: Content
}

extension Identifier: Codable {
    /// Reads 64 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let identifier = Identifier(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 64 hexadecimal digits")
        }
        self = identifier
    }

    /// Writes 64 hexadecimal digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
