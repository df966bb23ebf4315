/// The encodings of bytes in mail, RFC 2045. Both tolerate every mistake, and their results are never longer.
enum TransferEncoding {
    /// Decodes base64. Leaves out all that is no digit of it; ends at padding.
    static func base64(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count / 4 * 3)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            let value: UInt32
            switch byte {
            case 0x41...0x5A: value = UInt32(byte) - 0x41
            case 0x61...0x7A: value = UInt32(byte) - 0x61 + 26
            case 0x30...0x39: value = UInt32(byte) - 0x30 + 52
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            case UInt8(ascii: "="): return result
            default: continue
            }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return result
    }

    /// Decodes quoted-printable.
    ///
    /// - Parameter isHeader: Whether an underscore is a space, as in RFC 2047.
    static func quotedPrintable(_ bytes: ArraySlice<UInt8>, isHeader: Bool = false) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            guard byte == UInt8(ascii: "=") else {
                result.append(isHeader && byte == UInt8(ascii: "_") ? UInt8(ascii: " ") : byte)
                continue
            }
            let rest = bytes[position...]
            if rest.first == UInt8(ascii: "\n") {
                position += 1
            } else if rest.starts(with: "\r\n".utf8) {
                position += 2
            } else if let high = digit(rest.first), let low = digit(rest.dropFirst().first) {
                result.append(high << 4 | low)
                position += 2
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map { UInt8($0) }
    }
}
