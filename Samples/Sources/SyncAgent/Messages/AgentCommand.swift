internal import Foundation
internal import Sync
internal import TreeScan

/// What a client asks of an agent. Names and paths are bytes.
enum AgentCommand: Codable, Sendable {
    /// Opens a session of a pair. It ends an earlier one of the same pair.
    case open(pair: String, version: Int, setsOwners: Bool)
    /// Looks at all entries. Each is a piece of the answer. What is below a folder that the patterns leave out need
    /// not be in it: an agent that does not know of patterns sends all.
    case scan(probing: Bool, excludes: [String]?)
    /// Looks at a folder.
    case folder(Data)
    /// Looks at an entry.
    case status(folder: Data, name: Data)
    case makeLink(folder: Data, name: Data, target: Data)
    case makePipe(folder: Data, name: Data)
    /// Makes a temporary name of a file that is there. Of level 2.
    case makeName(folder: Data, name: Data, fileFolder: Data, file: Data)
    case makeFolder(folder: Data, name: Data)
    /// Removes a temporary file, or an empty folder.
    case remove(folder: Data, name: Data, isFolder: Bool)
    /// Renames an entry to a free name.
    case rename(folder: Data, old: Data, newFolder: Data, new: Data)
    /// Lets two names change places, if the second one has the entry that was seen.
    case exchange(folder: Data, temporary: Data, name: Data, old: SeenEntry)
    case setMetadata(folder: Data, name: Data, metadata: Metadata, kind: String, owner: Bool)
    /// The extended attributes of an entry. Of level 2, as the next two.
    case attributes(folder: Data, name: Data)
    case changeAttributes(folder: Data, name: Data, values: [AgentAttribute], removed: [Data])
    /// The prints of the attributes of many entries, each a piece of the answer. The payload is their paths.
    case attributePrints
    case setTime(folder: Data, name: Data, modified: Int64)
    case synchronizeNames(folder: Data)
    case synchronize
    /// The SHA-256 of a file that was seen.
    case digest(SeenEntry)
    /// The list of chunks of a file that was seen.
    case chunks(SeenEntry, normal: Int)
    /// The content of a file that was seen, from a place on, as steps. The payload is a list of chunks, or nothing.
    /// Of level 2: holes are steps, too, and the attributes are in the answer.
    case read(SeenEntry, start: Int64, level: Int?)
    /// A part of a temporary file. The payload is frames with steps.
    case write(AgentPart)

    /// The path of the only route.
    static let place = "/v1"
    /// The header with the session.
    static let sessionField = "QoS-Sync-Session"
    /// The version of the protocol.
    static let version = 1
    /// What this program knows beyond the first agents, which have no level: 2 for names of one file, attributes and
    /// holes.
    static let level = 2

    /// Whether it may change something in the folder.
    var isChange: Bool {
        switch self {
        case .open, .scan, .folder, .status, .synchronizeNames, .synchronize, .digest, .chunks, .read, .attributes,
            .attributePrints:
            false
        case .makeLink, .makePipe, .makeName, .makeFolder, .remove, .rename, .exchange, .setMetadata, .changeAttributes,
            .setTime,
            .write:
            true
        }
    }
}

/// A part of a temporary file.
struct AgentPart: Codable, Sendable {
    var folder: Data
    var temporary: Data
    /// The place of the first byte. The file is made if this is 0.
    var start: Int64
    /// The length of the whole file.
    var size: Int64
    /// The entry from which steps copy, and its name.
    var former: SeenEntry?
    /// The bytes from `start` on that are no hole; nil if it is not known.
    var room: Int64?
    /// Whether the part is put on the disk.
    var isDurable: Bool
    /// The end of the file; nil if more parts follow.
    var end: End?

    struct End: Codable, Sendable {
        /// The SHA-256 of the whole file.
        var digest: Data
        var metadata: Metadata
        var setsOwners: Bool
        /// The extended attributes of the file, and no others; nil to leave them.
        var attributes: [AgentAttribute]?
    }
}

/// The answer of an agent. Each command fills what it is about.
struct AgentAnswer: Codable, Sendable {
    struct Session: Codable, Sendable {
        var identifier: String
        var setsOwners: Bool
        /// The inode of the root.
        var inode: UInt64
        /// The level of the agent; nil for 1.
        var level: Int?
    }

    var session: Session?
    var status: SeenStatus?
    var exchange: NameExchange?
    var digest: Data?
    /// An error number, or 0.
    var code: Int32?
    /// The clock of the agent, in nanoseconds since 1970.
    var time: Int64?
    /// The number of bytes that came from an old version.
    var reused: Int64?
    var foldsCase: Bool?
    /// The extended attributes of the entry; nil if they cannot be read, or its file system has none.
    var attributes: [AgentAttribute]?
    /// The names of attributes that could not be set or removed.
    var lost: [Data]?
}

/// The reason why an agent did not do a command.
struct AgentFailure: Codable, Sendable, Error {
    enum Reason: String, Codable {
        /// The file system refused. It has an operation and an error number.
        case file
        /// The agent changes nothing.
        case readOnly
        /// The folder is not at its place any more.
        case replaced
        /// The session has ended.
        case session
        /// The command is not one that an agent does.
        case command
    }

    var reason: Reason
    var text: String
    var code: Int32 = 0
}

/// The frames of an answer, by their first byte.
enum AgentFrame: UInt8 {
    /// The agent is still at work.
    case working = 0
    /// The last frame: an answer.
    case answer = 1
    /// The last frame: a failure.
    case failure = 2
    /// A piece of the answer.
    case piece = 3
}
