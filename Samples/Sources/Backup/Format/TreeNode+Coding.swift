extension TreeNode {
    /// The largest plain text of a blob. A reader refuses a longer one.
    static let longestBlob = 16 << 20

    /// The bytes of the list of a folder's entries.
    static func encode(_ nodes: [TreeNode]) -> [UInt8] {
        var writer = ByteWriter()
        for node in nodes { node.write(to: &writer) }
        return writer.bytes
    }

    /// The entries of a folder from the bytes of their list.
    static func decode(_ bytes: [UInt8]) throws(ByteReader.Malformed) -> [TreeNode] {
        var reader = ByteReader(bytes)
        var nodes: [TreeNode] = []
        while !reader.isAtEnd { nodes.append(try TreeNode(from: &reader)) }
        guard nodes.allSatisfy(\.hasSafeName) else { throw ByteReader.Malformed() }
        return nodes
    }

    /// Whether the name stays in its folder.
    private var hasSafeName: Bool {
        !name.isEmpty && name != Array(".".utf8) && name != Array("..".utf8) && !name.contains(0)
            && !name.contains(UInt8(ascii: "/"))
    }

    func write(to writer: inout ByteWriter) {
        writer.write(kindNumber)
        writer.write(name)
        writer.write(UInt64(mode))
        writer.write(UInt64(owner))
        writer.write(UInt64(group))
        writer.writeSigned(modified)
        writer.writeSigned(changed)
        writer.write(device)
        writer.write(inode)
        writer.write(links)
        writer.write(mustReread ? 1 : 0)
        writer.write(attributes.count)
        for attribute in attributes {
            writer.write(attribute.name)
            writer.write(attribute.value)
        }
        switch content {
        case .file(let file):
            writer.write(Int(file.size))
            // One more than the count, so that 0 says "no holes".
            writer.write(file.extents.map { $0.count + 1 } ?? 0)
            var end: Int64 = 0
            for extent in file.extents ?? [] {
                writer.write(Int(extent.lowerBound - end))
                writer.write(extent.count)
                end = extent.upperBound
            }
            Self.write(file.chunks, to: &writer)
        case .folder(let chunks): Self.write(chunks, to: &writer)
        case .link(let target): writer.write(target)
        case .pipe: break
        }
    }

    init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
        let kind = try reader.count()
        name = try reader.content()
        mode = UInt32(try reader.count(limit: 0o7777))
        owner = UInt32(try reader.count(limit: Int(UInt32.max)))
        group = UInt32(try reader.count(limit: Int(UInt32.max)))
        modified = try reader.signed()
        changed = try reader.signed()
        device = try reader.number()
        inode = try reader.number()
        links = try reader.number()
        mustReread = try reader.count(limit: 1) == 1
        attributes = []
        for _ in 0..<(try reader.count(limit: 1 << 20)) {
            attributes.append(Attribute(name: try reader.content(), value: try reader.content()))
        }
        switch kind {
        case 1: content = .file(try Self.file(from: &reader))
        case 2: content = .folder(try Self.chunks(from: &reader))
        case 3: content = .link(target: try reader.content())
        case 4: content = .pipe
        default: throw ByteReader.Malformed()
        }
    }

    private var kindNumber: Int {
        switch content {
        case .file: 1
        case .folder: 2
        case .link: 3
        case .pipe: 4
        }
    }

    private static func write(_ chunks: [Chunk], to writer: inout ByteWriter) {
        writer.write(chunks.count)
        for chunk in chunks {
            writer.write(chunk.blob)
            writer.write(chunk.length)
        }
    }

    private static func chunks(from reader: inout ByteReader) throws(ByteReader.Malformed) -> [Chunk] {
        var chunks: [Chunk] = []
        for _ in 0..<(try reader.count()) {
            chunks.append(Chunk(blob: try reader.identifier(), length: try reader.count(limit: longestBlob)))
        }
        return chunks
    }

    private static func file(from reader: inout ByteReader) throws(ByteReader.Malformed) -> FileContent {
        let size = Int64(try reader.count())
        let count = try reader.count()
        var extents: [Range<Int64>] = []
        var end: Int64 = 0
        for _ in 0..<max(0, count - 1) {
            let start = end.addingReportingOverflow(Int64(try reader.count()))
            let stop = start.partialValue.addingReportingOverflow(Int64(try reader.count()))
            guard !start.overflow, !stop.overflow, stop.partialValue <= size else { throw ByteReader.Malformed() }
            extents.append(start.partialValue..<stop.partialValue)
            end = stop.partialValue
        }
        let chunks = try chunks(from: &reader)
        let stored = chunks.reduce(Int64(0)) { $0 + Int64($1.length) }
        let expected = count == 0 ? size : extents.reduce(Int64(0)) { $0 + Int64($1.count) }
        guard stored == expected else { throw ByteReader.Malformed() }
        return FileContent(size: size, extents: count == 0 ? nil : extents, chunks: chunks)
    }
}
