/// The state of one folder at one time.
public struct Snapshot: Sendable, Hashable, Codable {
    /// The hash of the snapshot's file, which names it.
    public internal(set) var id: Identifier?

    /// The start of the run, in nanoseconds since 1970.
    public let time: Int64
    /// The name of the machine.
    public let host: String
    /// The path of the folder, for people: bytes that are not UTF-8 are replaced.
    public let folder: String
    /// The chunks of the root's record.
    public let root: [TreeNode.Chunk]
    /// The number of regular files.
    public let files: Int
    /// The sum of the sizes of the files, in bytes.
    public let bytes: Int64
    /// The number of entries that are missing in the snapshot, because they could not be read.
    public let problems: Int
    /// Words of the person who made it.
    public let tags: [String]

    private enum CodingKeys: String, CodingKey {
        case time
        case host
        case folder
        case root
        case files
        case bytes
        case problems
        case tags
    }

    init(
        time: Int64, host: String, folder: String, root: [TreeNode.Chunk], files: Int, bytes: Int64, problems: Int,
        tags: [String] = []
    ) {
        self.time = time
        self.host = host
        self.folder = folder
        self.root = root
        self.files = files
        self.bytes = bytes
        self.problems = problems
        self.tags = tags
    }

    /// Reads a snapshot, also one of an earlier version, which knew no tags.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        time = try values.decode(Int64.self, forKey: .time)
        host = try values.decode(String.self, forKey: .host)
        folder = try values.decode(String.self, forKey: .folder)
        root = try values.decode([TreeNode.Chunk].self, forKey: .root)
        files = try values.decode(Int.self, forKey: .files)
        bytes = try values.decode(Int64.self, forKey: .bytes)
        problems = try values.decode(Int.self, forKey: .problems)
        tags = try values.decodeIfPresent([String].self, forKey: .tags) ?? []
    }

    /// The first eight digits of the name.
    public var shortName: String { String((id?.description ?? "").prefix(8)) }
}
