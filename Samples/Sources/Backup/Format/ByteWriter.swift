/// Writes the binary records of the format: numbers of variable length, and bytes behind their count.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Seven bits in each byte, the lowest first; the highest bit says that more follow (LEB128).
    mutating func write(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func write(_ number: Int) {
        write(UInt64(number))
    }

    /// A number with a sign: 0, -1, 1, -2 … become 0, 1, 2, 3 …
    mutating func writeSigned(_ number: Int64) {
        write(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
    }

    /// The count, then the bytes.
    mutating func write(_ content: [UInt8]) {
        write(content.count)
        bytes += content
    }

    mutating func write(_ identifier: Identifier) {
        bytes += identifier.bytes
    }
}
