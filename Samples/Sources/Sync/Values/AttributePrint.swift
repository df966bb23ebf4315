internal import Crypto
internal import SafeFiles

/// The extended attributes of an entry by name, access lists among them.
package typealias AttributeSet = [[UInt8]: [UInt8]]

/// The extended attributes of an entry, each with a short digest of its value.
package struct AttributePrint: Sendable, Hashable {
    /// The digests by name.
    package private(set) var digests: [[UInt8]: UInt64]

    private static let longestName = 255
    private static let most = 1 << 16

    package init(_ values: AttributeSet) {
        digests = values.isEmpty ? [:] : values.mapValues(Self.digest)
    }

    private static func digest(_ value: [UInt8]) -> UInt64 {
        SHA256.hash(data: value).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The print as bytes. The same print has the same bytes.
    package var encoded: [UInt8] {
        guard !digests.isEmpty else { return [] }
        var writer = WireWriter()
        for (name, digest) in digests.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            writer.counted(name)
            writer.number(digest)
        }
        return writer.bytes
    }

    /// Reads the bytes of a print.
    package init(decoding bytes: [UInt8]) throws(WireError) {
        digests = [:]
        var reader = WireReader(bytes[...])
        while reader.rest > 0 {
            guard digests.count < Self.most else { throw WireError("an entry has too many attributes") }
            let name = try reader.counted(limit: Self.longestName)
            digests[name] = try reader.number()
        }
    }
}

/// Attributes that one side of an entry gets from the other one.
struct AttributeChange: Sendable, Hashable {
    /// The names of those that get the value of the other side.
    var copied: Set<[UInt8]> = []
    /// The names of those that are removed.
    var removed: Set<[UInt8]> = []

    var isEmpty: Bool { copied.isEmpty && removed.isEmpty }
}

extension [[UInt8]] {
    /// The names of attributes, for people.
    var attributeNames: String { map { PathText.text($0) }.sorted().joined(separator: ", ") }
}
