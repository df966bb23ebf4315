/// The state of one folder, or of several ones, at one time.
public struct Snapshot: Sendable, Hashable, Codable {
    /// The hash of the snapshot's file, which names it.
    public internal(set) var id: Identifier?

    /// The start of the run, in nanoseconds since 1970.
    public let time: Int64
    /// The name of the machine.
    public let host: String
    /// The path of the folder, as a text of `PathText`; of several ones all paths, with `, ` between them.
    public let folder: String
    /// The paths of the folders, absolute and without links if there are several.
    public let folders: [String]
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
        case folders
        case root
        case files
        case bytes
        case problems
        case tags
    }

    init(
        time: Int64, host: String, folders: [String], root: [TreeNode.Chunk], files: Int, bytes: Int64, problems: Int,
        tags: [String] = []
    ) {
        self.time = time
        self.host = host
        folder = folders.joined(separator: ", ")
        self.folders = folders
        self.root = root
        self.files = files
        self.bytes = bytes
        self.problems = problems
        self.tags = tags
    }

    /// Reads a snapshot, also one of an earlier version, which knew no tags, or only one folder.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        time = try values.decode(Int64.self, forKey: .time)
        host = try values.decode(String.self, forKey: .host)
        folder = try values.decode(String.self, forKey: .folder)
        folders = try values.decodeIfPresent([String].self, forKey: .folders) ?? [folder]
        root = try values.decode([TreeNode.Chunk].self, forKey: .root)
        files = try values.decode(Int.self, forKey: .files)
        bytes = try values.decode(Int64.self, forKey: .bytes)
        problems = try values.decode(Int.self, forKey: .problems)
        tags = try values.decodeIfPresent([String].self, forKey: .tags) ?? []
    }

    /// Writes the fields. A snapshot of one folder is as in earlier versions.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(time, forKey: .time)
        try values.encode(host, forKey: .host)
        try values.encode(folder, forKey: .folder)
        if folders.count > 1 { try values.encode(folders, forKey: .folders) }
        try values.encode(root, forKey: .root)
        try values.encode(files, forKey: .files)
        try values.encode(bytes, forKey: .bytes)
        try values.encode(problems, forKey: .problems)
        try values.encode(tags, forKey: .tags)
    }

    /// The first eight digits of the name.
    public var shortName: String { String((id?.description ?? "").prefix(8)) }
}
