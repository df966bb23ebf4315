public import TreeScan

/// A version that lost its own name in a conflict, as ``ConflictName`` names it.
public struct ConflictCopy: Sendable, Hashable {
    /// The path of this version.
    public let path: RelativePath
    /// The path of the version that has the name.
    public let original: RelativePath
    /// The side that this version came from.
    public let side: Side
    /// The day of the conflict, as `2026-01-31`.
    public let date: String

    /// Reads the path of a file; nil if it is no such version.
    public init?(_ path: RelativePath) {
        let name = Array(path.name)
        guard let mark = name.lastRange(of: Array(".conflict-".utf8)) else { return nil }
        let rest = name[mark.upperBound...]
        guard rest.count >= 12, let side = Side(rawValue: String(decoding: rest.prefix(1), as: UTF8.self)),
            rest.dropFirst().first == UInt8(ascii: "-")
        else { return nil }
        let date = rest.dropFirst(2).prefix(10)
        let isDate = date.enumerated().allSatisfy { place, byte in
            place == 4 || place == 7 ? byte == UInt8(ascii: "-") : (0x30...0x39).contains(byte)
        }
        guard isDate else { return nil }
        var end = rest.dropFirst(12)
        if end.first == UInt8(ascii: "-") {
            let number = end.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard !number.isEmpty else { return nil }
            end = rest[number.endIndex...]
        }
        guard end.isEmpty || end.first == UInt8(ascii: ".") else { return nil }
        self.path = path
        original = RelativePath(bytes: Array(path.bytes.dropLast(name.count)) + name[..<mark.lowerBound] + end)
        self.side = side
        self.date = String(decoding: date, as: UTF8.self)
    }
}

extension Array where Element == UInt8 {
    /// The last place of some bytes.
    fileprivate func lastRange(of other: [UInt8]) -> Range<Int>? {
        guard count >= other.count else { return nil }
        return (0...(count - other.count)).last { self[$0..<($0 + other.count)].elementsEqual(other) }
            .map { $0..<($0 + other.count) }
    }
}
