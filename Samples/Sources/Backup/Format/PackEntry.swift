/// The place of a blob in a pack.
struct PackEntry: Sendable, Hashable {
    let blob: Identifier
    /// The first byte of the sealed blob.
    let offset: Int
    /// The bytes of the sealed blob.
    let length: Int

    static func write(_ entries: [PackEntry], to writer: inout ByteWriter) {
        writer.write(entries.count)
        for entry in entries {
            writer.write(entry.blob)
            writer.write(entry.offset)
            writer.write(entry.length)
        }
    }

    static func read(from reader: inout ByteReader) throws(ByteReader.Malformed) -> [PackEntry] {
        var entries: [PackEntry] = []
        for _ in 0..<(try reader.count()) {
            entries.append(
                PackEntry(
                    blob: try reader.identifier(), offset: try reader.count(limit: 1 << 40),
                    length: try reader.count(limit: 1 << 40)))
        }
        return entries
    }
}

/// A pack and the places of its blobs, as an index lists them.
struct PackRecord: Sendable, Hashable {
    let pack: Identifier
    /// The bytes of the file.
    let size: Int
    let entries: [PackEntry]

    /// The record of a damaged file of another size: with the blobs that can still be in it.
    func cut(to size: Int) -> PackRecord {
        PackRecord(pack: pack, size: size, entries: entries.filter { $0.offset + $0.length <= size })
    }

    static func encode(_ records: [PackRecord]) -> [UInt8] {
        var writer = ByteWriter()
        for record in records {
            writer.write(record.pack)
            writer.write(record.size)
            PackEntry.write(record.entries, to: &writer)
        }
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8]) throws(ByteReader.Malformed) -> [PackRecord] {
        var reader = ByteReader(bytes)
        var records: [PackRecord] = []
        while !reader.isAtEnd {
            records.append(
                PackRecord(
                    pack: try reader.identifier(), size: try reader.count(limit: 1 << 40),
                    entries: try PackEntry.read(from: &reader)))
        }
        return records
    }
}
