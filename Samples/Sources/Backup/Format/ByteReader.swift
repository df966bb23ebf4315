/// Reads the binary records of the format. Never reads beyond the end, whatever the bytes are.
struct ByteReader {
    /// The record ends too early, or has a value that cannot be.
    struct Malformed: Error {}

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func number() throws(Malformed) -> UInt64 {
        var result: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard position < bytes.count else { throw Malformed() }
            let byte = bytes[position]
            position += 1
            guard shift < 63 || byte <= 1 else { throw Malformed() }
            result |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return result }
        }
        throw Malformed()
    }

    /// A number that fits in a count, at most `limit`.
    mutating func count(limit: Int = Int.max) throws(Malformed) -> Int {
        let number = try number()
        guard number <= UInt64(limit) else { throw Malformed() }
        return Int(number)
    }

    mutating func signed() throws(Malformed) -> Int64 {
        let number = try number()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    mutating func content() throws(Malformed) -> [UInt8] {
        try raw(try count(limit: bytes.count))
    }

    mutating func identifier() throws(Malformed) -> Identifier {
        Identifier(try raw(Identifier.length))
    }

    private mutating func raw(_ count: Int) throws(Malformed) -> [UInt8] {
        guard count <= bytes.count - position else { throw Malformed() }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }
}
