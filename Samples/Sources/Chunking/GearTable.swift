/// The 256 random words of the gear hash, one for each value of a byte.
///
/// A table from a secret key hides where chunks end: an observer of the sizes cannot tell which known file was stored.
public struct GearTable: Sendable, Hashable {
    /// The words, by byte.
    let words: [UInt64]

    /// The words shifted left by one, for the first of two bytes.
    let shifted: [UInt64]

    /// Makes a table from a function of the byte. It is called once for each byte, from 0 to 255.
    public init(_ word: (UInt8) throws -> UInt64) rethrows {
        words = try (0...255).map { try word(UInt8($0)) }
        shifted = words.map { $0 << 1 }
    }

    /// Returns the word of a byte.
    public func word(of byte: UInt8) -> UInt64 { words[Int(byte)] }
}
