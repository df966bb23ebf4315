/// Makes zip archives whose entries are not compressed.
public struct ZipArchive {
    /// The bytes.
    public private(set) var bytes: [UInt8] = []

    /// Makes an archive of entries with these names and contents.
    public init(_ entries: [(name: String, content: [UInt8])]) {
        var directory: [UInt8] = []
        for (name, content) in entries {
            let offset = bytes.count
            // Made by version 2.0, nothing compressed, no time.
            let common =
                Self.number(20, 2) + Self.number(0, 2) + Self.number(0, 2) + Self.number(0, 4)
                + Self.number(Int(Self.checksum(content)), 4) + Self.number(content.count, 4)
                + Self.number(content.count, 4) + Self.number(name.utf8.count, 2) + Self.number(0, 2)
            bytes += [0x50, 0x4B, 3, 4] + common + name.utf8 + content
            directory += [0x50, 0x4B, 1, 2] + Self.number(20, 2) + common + [UInt8](repeating: 0, count: 10)
            directory += Self.number(offset, 4) + Array(name.utf8)
        }
        let start = bytes.count
        bytes += directory + [0x50, 0x4B, 5, 6, 0, 0, 0, 0]
        bytes += Self.number(entries.count, 2) + Self.number(entries.count, 2)
        bytes += Self.number(directory.count, 4) + Self.number(start, 4) + [0, 0]
    }

    /// Makes an archive of texts.
    public init(_ entries: [(name: String, text: String)]) {
        self.init(entries.map { ($0.name, Array($0.text.utf8)) })
    }

    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    /// CRC-32.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
    }
}
