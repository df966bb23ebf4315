/// Writes numbers and bytes in a compact form: numbers as LEB128, signed ones in zigzag order.
package struct WireWriter {
    /// All that was written.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func byte(_ value: UInt8) { bytes.append(value) }

    package mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    package mutating func signed(_ value: Int64) { number(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    /// Writes the length, then the bytes.
    package mutating func counted(_ value: some Collection<UInt8>) {
        number(UInt64(value.count))
        bytes += value
    }

    package mutating func raw(_ value: some Collection<UInt8>) { bytes += value }
}

/// Bytes that are not in the form that they should have.
package struct WireError: Error, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Reads what a `WireWriter` wrote, from anybody. Never reads behind the end.
package struct WireReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The number of bytes that are left.
    package var rest: Int { bytes.endIndex - position }

    package mutating func byte() throws(WireError) -> UInt8 {
        guard position < bytes.endIndex else { throw WireError("a record is too short") }
        defer { position += 1 }
        return bytes[position]
    }

    package mutating func number() throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let next = try byte()
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
        }
        throw WireError("a number is too long")
    }

    package mutating func signed() throws(WireError) -> Int64 {
        let value = try number()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// A number that is no larger than a limit.
    package mutating func count(_ limit: Int) throws(WireError) -> Int {
        let value = try number()
        guard value <= UInt64(limit) else { throw WireError("a number is too large") }
        return Int(value)
    }

    package mutating func counted(limit: Int) throws(WireError) -> [UInt8] {
        try raw(try count(limit))
    }

    package mutating func raw(_ count: Int) throws(WireError) -> [UInt8] {
        guard count <= rest else { throw WireError("a record is too short") }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }
}

/// Cuts a stream of bytes into frames. Each frame has its length before it.
package struct FrameReader {
    /// The largest frame, in bytes.
    package static let limit = 1 << 20

    private var buffer: [UInt8] = []
    private var start = 0

    package init() {}

    /// Whether nothing is left.
    package var isEmpty: Bool { start == buffer.count }

    package mutating func append(_ bytes: some Collection<UInt8>) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    /// Returns the next frame; nil if it is not there as a whole.
    package mutating func next() throws(WireError) -> ArraySlice<UInt8>? {
        var length = 0
        for (index, byte) in buffer[start...].prefix(4).enumerated() {
            length |= Int(byte & 0x7F) << (7 * index)
            guard byte < 0x80 else { continue }
            guard length <= Self.limit else { throw WireError("a frame is too long") }
            let first = start + index + 1
            guard buffer.count - first >= length else { return nil }
            start = first + length
            return buffer[first..<start]
        }
        guard buffer.count - start < 4 else { throw WireError("a frame is too long") }
        return nil
    }

    /// Returns the bytes of a frame with its length before them.
    package static func frame(_ payload: [UInt8]) -> [UInt8] {
        var writer = WireWriter()
        writer.counted(payload)
        return writer.bytes
    }
}
