/// The 32 bytes that name a blob, by its keyed hash, or a file of the repository, by the hash of its bytes.
public struct Identifier: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes.
    static let length = 32

    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Takes 32 bytes.
    init(_ bytes: some Sequence<UInt8>) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var count = 0
        for byte in bytes {
            switch count / 8 {
            case 0: words.0 = words.0 << 8 | UInt64(byte)
            case 1: words.1 = words.1 << 8 | UInt64(byte)
            case 2: words.2 = words.2 << 8 | UInt64(byte)
            default: words.3 = words.3 << 8 | UInt64(byte)
            }
            count += 1
        }
        precondition(count == Self.length)
        self.words = words
    }

    /// Takes 64 hexadecimal digits, in lower case.
    init?(_ text: String) {
        guard text.utf8.count == 2 * Self.length, let bytes = Hexadecimal.bytes(text) else { return nil }
        self.init(bytes)
    }

    var bytes: [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
        }
    }

    /// 64 hexadecimal digits.
    public var description: String { Hexadecimal.text(bytes) }

    /// Compares all bytes.
    public static func == (left: Identifier, right: Identifier) -> Bool { left.words == right.words }

    /// Feeds the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}

/// Bytes as hexadecimal digits in lower case.
enum Hexadecimal {
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    static func bytes(_ text: String) -> [UInt8]? {
        let values = text.utf8.map { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        guard values.count % 2 == 0, values.allSatisfy({ $0 != nil }) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { (values[$0] ?? 0) << 4 | (values[$0 + 1] ?? 0) }
    }
}
