internal import Crypto
internal import QoSRuntime

/// A pack that is being filled.
///
/// Its bytes go to a temporary file piece by piece. So it takes the memory of one piece.
struct PackWriter: Sendable {
    /// The bytes of one write.
    private static let piece = 1 << 20

    /// The bytes so far.
    private(set) var size = 0
    private var entries: [PackEntry] = []
    /// The bytes that are not written yet.
    private var rest: [UInt8] = []
    private var hash = SHA256()
    /// None before the first write.
    private var file: (any StoredPack)?
    private let repository: Repository

    init(_ repository: Repository) {
        self.repository = repository
        append(PackFile.mark)
    }

    /// Adds a sealed blob. Waits for its turn behind I/O of higher classes if it writes.
    ///
    /// After an error the pack cannot be used any more.
    mutating func append(_ sealed: [UInt8], as blob: Identifier) async throws {
        entries.append(PackEntry(blob: blob, offset: size, length: sealed.count))
        append(sealed)
        if rest.count >= Self.piece { try await write() }
    }

    /// Writes the list of blobs, and gives the file its name when it is on the disk.
    mutating func finish() async throws -> PackRecord {
        append(try PackFile.footer(entries, keys: repository.keys))
        try await write()
        let (folder, name) = (repository.folder, Identifier(hash.finalize()))
        if let file {
            try await IOThrottle.process.perform(bytes: 0) { _ in try file.finish(as: folder.path(.packs, name)) }
        }
        return PackRecord(pack: name, size: size, entries: entries)
    }

    private mutating func append(_ bytes: [UInt8]) {
        if rest.isEmpty { rest.reserveCapacity(Self.piece + bytes.count) }
        rest += bytes
        size += bytes.count
    }

    private mutating func write() async throws {
        hash.update(data: rest)
        let (folder, bytes, start) = (repository.folder, rest, size - rest.count)
        rest = []
        var position = 0
        while position < bytes.count {
            let (opened, from) = (file, position)
            let (open, count) = try await IOThrottle.process.perform(bytes: bytes.count - from) { granted in
                let file = try opened ?? folder.storage.makePack()
                let count = min(granted, bytes.count - from)
                try file.write(bytes[from..<(from + count)], at: start + from)
                return (file, count)
            }
            file = open
            position += count
        }
        // The same room again.
        rest = bytes
        rest.removeAll(keepingCapacity: true)
    }
}
