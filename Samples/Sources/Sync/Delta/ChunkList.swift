package import Chunking
internal import Crypto
internal import QoSRuntime
package import SafeFiles

/// The chunks of a file: short digests and lengths. It tells another machine what this one has.
///
/// A digest has 6 bytes, so two chunks may have the same one. So a file that is built from a list is compared with a
/// digest of the whole.
package struct ChunkList: Sendable {
    /// One chunk.
    package struct Chunk: Sendable {
        package var key: UInt64
        package var length: Int
    }

    /// The bytes of one chunk in a list: a digest, and a length that most often has two bytes.
    private static let keyBytes = 6
    private static let sizes = (minimum: 512, maximum: 1 << 20)
    /// The largest number of chunks.
    private static let limit = 1 << 20

    /// The size that most chunks are close to, in bytes. A power of two.
    package var normal: Int
    /// The chunks in their order.
    package var chunks: [Chunk] = []

    /// The size of chunks for which the list and one changed chunk cost about the same: the square root.
    package static func normalSize(for size: Int64) -> Int {
        var normal = sizes.minimum
        while normal < sizes.maximum, Int64(normal * normal * 4) <= size { normal *= 2 }
        return normal
    }

    /// Whether a size is one that `normalSize(for:)` may give.
    package static func isSize(_ normal: Int) -> Bool {
        (sizes.minimum...sizes.maximum).contains(normal) && normal.nonzeroBitCount == 1
    }

    package static func chunker(normal: Int) -> Chunker {
        Chunker(
            sizes: ChunkSizes(minimum: normal / 4, normal: normal, maximum: normal * 8), gear: .shared)
    }

    package static func key(of chunk: [UInt8]) -> UInt64 {
        SHA256.hash(data: chunk).prefix(keyBytes).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Cuts the first `size` bytes of a file; nil if they cannot be read.
    package init?(of file: OpenDescriptor, size: Int64, normal: Int) async {
        self.normal = normal
        var stream = ChunkStream(Self.chunker(normal: normal))
        var position: Int64 = 0
        while true {
            let (offset, wanted) = (Int(position), Int(min(Int64(1 << 20), size - position)))
            if wanted == 0 {
                stream.finish()
            } else {
                let result = try? await IOThrottle.process.perform(bytes: wanted) { granted in
                    FileBytes.read(file.number, from: offset, count: max(1, min(wanted, granted)))
                }
                guard let (bytes, code) = result, code == 0, !bytes.isEmpty else { return nil }
                stream.append(bytes)
                position += Int64(bytes.count)
            }
            while let chunk = stream.next() {
                guard chunks.count < Self.limit else { return nil }
                chunks.append(Chunk(key: Self.key(of: chunk), length: chunk.count))
            }
            if wanted == 0 { return }
        }
    }

    // MARK: The wire

    /// The list as bytes.
    package var encoded: [UInt8] {
        var writer = WireWriter()
        writer.number(UInt64(normal))
        for chunk in chunks {
            for shift in stride(from: (Self.keyBytes - 1) * 8, through: 0, by: -8) {
                writer.byte(UInt8(truncatingIfNeeded: chunk.key >> UInt64(shift)))
            }
            writer.number(UInt64(chunk.length))
        }
        return writer.bytes
    }

    /// Reads a list.
    package init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = WireReader(bytes[...])
        normal = try reader.count(Self.sizes.maximum)
        guard Self.isSize(normal) else {
            throw WireError("the size of chunks is not one of those that are used")
        }
        while reader.rest > 0 {
            guard chunks.count < Self.limit else { throw WireError("a list of chunks is too long") }
            let key = try reader.raw(Self.keyBytes).reduce(0) { $0 << 8 | UInt64($1) }
            chunks.append(Chunk(key: key, length: try reader.count(normal * 8)))
        }
    }
}

extension GearTable {
    /// The table of syncs. Its words need no secret: both sides have the files. SplitMix64.
    static let shared = GearTable { byte in
        var mixed = (UInt64(byte) + 1) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
