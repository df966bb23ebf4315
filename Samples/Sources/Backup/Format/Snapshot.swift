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

    private enum CodingKeys: String, CodingKey {
        case time
        case host
        case folder
        case root
        case files
        case bytes
        case problems
    }

    /// The first eight digits of the name.
    public var shortName: String { String((id?.description ?? "").prefix(8)) }
}
