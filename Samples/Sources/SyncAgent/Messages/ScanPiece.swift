internal import Sync
internal import TreeScan

/// A piece of the answer to a scan, in a compact form.
enum ScanPiece {
    case entry(Observation)
    /// A path that was not read, with everything below it.
    case blocked(RelativePath)
    /// A temporary file of an earlier run.
    case leftover(RelativePath)
    /// A line for people.
    case skipped(String)

    private static let kinds: [FileKind] = [.regular, .directory, .symbolicLink, .fifo]

    /// The pieces of a scan, entries in the order of their bytes.
    static func all(of scan: SideScan) -> [ScanPiece] {
        scan.entries.map(ScanPiece.entry) + scan.blocked.map(ScanPiece.blocked)
            + scan.leftovers.map(ScanPiece.leftover) + scan.skipped.map(ScanPiece.skipped)
    }

    var encoded: [UInt8] {
        var writer = WireWriter()
        switch self {
        case .entry(let entry):
            writer.byte(0)
            writer.counted(entry.path.bytes)
            writer.byte(UInt8(Self.kinds.firstIndex(of: entry.kind) ?? 0))
            writer.number(UInt64(entry.metadata.mode))
            writer.number(UInt64(entry.metadata.owner))
            writer.number(UInt64(entry.metadata.group))
            writer.signed(entry.metadata.modified)
            writer.counted(entry.target)
            writer.number(UInt64(entry.stamp.size))
            writer.signed(entry.stamp.modified)
            writer.signed(entry.stamp.changed)
            writer.number(entry.stamp.inode)
            writer.number(entry.stamp.device)
            // The first clients do not read it.
            if entry.links > 1 { writer.number(entry.links) }
        case .blocked(let path):
            writer.byte(1)
            writer.raw(path.bytes)
        case .leftover(let path):
            writer.byte(2)
            writer.raw(path.bytes)
        case .skipped(let text):
            writer.byte(3)
            writer.raw(text.utf8)
        }
        return writer.bytes
    }

    /// Reads a piece.
    init(decoding bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        switch try reader.byte() {
        case 0:
            let path = try NameRules.path(try reader.counted(limit: FrameReader.limit))
            let kind = Int(try reader.byte())
            guard path != .root, kind < Self.kinds.count else { throw WireError("an entry has no name or no kind") }
            let metadata = Metadata(
                mode: UInt32(try reader.count(0o7777)), owner: UInt32(try reader.count(Int(UInt32.max))),
                group: UInt32(try reader.count(Int(UInt32.max))), modified: try reader.signed())
            let target = try reader.counted(limit: 4096)
            let stamp = FileStamp(
                size: Int64(try reader.count(Int.max)), modified: try reader.signed(), changed: try reader.signed(),
                inode: try reader.number(), device: try reader.number())
            let links = reader.rest > 0 ? max(1, try reader.number()) : 1
            self = .entry(
                Observation(
                    path: path, kind: Self.kinds[kind], metadata: metadata, target: target, stamp: stamp, links: links))
        case 1: self = .blocked(try NameRules.path(Array(bytes.dropFirst())))
        case 2: self = .leftover(try NameRules.path(Array(bytes.dropFirst())))
        case 3: self = .skipped(RelativePath(bytes: Array(bytes.dropFirst())).display)
        default: throw WireError("a piece of a scan is of an unknown kind")
        }
    }
}
