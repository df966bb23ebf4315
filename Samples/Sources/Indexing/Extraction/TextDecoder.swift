/// Turns bytes into text, or reports that they are not text.
///
/// The first rule that applies decides:
///
/// 1. A byte order mark names the encoding.
/// 2. A zero byte in the first 8 KiB means binary.
/// 3. Valid UTF-8 is taken as it is.
/// 4. Mostly valid UTF-8 is repaired with U+FFFD.
/// 5. Other bytes are Latin-1, unless their shares of control and high bytes are those of a binary file.
///
/// A zero byte further on (a log after a power cut) becomes a space.
enum TextDecoder {
    /// The number of bytes at the start that decide whether a file is text.
    static let sniffLength = 8 * 1024

    /// Returns the text, or nil when the bytes are binary. O(n).
    ///
    /// - Parameters:
    ///   - bytes: The content, or its first part.
    ///   - type: The type by name. Text by name is binary only when it contains a zero byte.
    ///   - isTruncated: Whether the content goes on. A sequence cut at the end is then no fault of the file's.
    static func decode(_ bytes: [UInt8], type: FileType, isTruncated: Bool) -> String? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            return decodeUTF8(whole(bytes.dropFirst(3), isTruncated))
        }
        // The mark of UTF-32 starts like that of UTF-16. It is so rare that it counts as binary.
        if bytes.starts(with: [0xFF, 0xFE, 0x00, 0x00]) { return nil }
        if bytes.starts(with: [0xFF, 0xFE]) { return decodeUTF16(bytes.dropFirst(2), low: 0) }
        if bytes.starts(with: [0xFE, 0xFF]) { return decodeUTF16(bytes.dropFirst(2), low: 1) }
        let sample = bytes.prefix(sniffLength)
        guard !sample.contains(0) else { return nil }
        let body = whole(bytes[...], isTruncated)
        if let text = String(validating: body, as: UTF8.self) {
            return looksBinary(ByteCensus(sample), type) ? nil : withoutZeros(text, body)
        }
        let census = ByteCensus(body)
        guard !looksBinary(census, type) else { return nil }
        return census.invalid * 10 <= census.sequences ? decodeUTF8(body) : decodeLatin1(body)
    }

    private static func looksBinary(_ census: ByteCensus, _ type: FileType) -> Bool {
        guard type == .unknown else { return false }
        return census.controls * 20 > census.total || census.invalid * 10 > census.total * 3
    }

    /// Returns the bytes without an incomplete sequence at the end.
    private static func whole(_ bytes: ArraySlice<UInt8>, _ isTruncated: Bool) -> ArraySlice<UInt8> {
        guard isTruncated else { return bytes }
        let tail = bytes.suffix(4)
        guard let lead = tail.lastIndex(where: { $0 & 0xC0 != 0x80 }), bytes[lead] >= 0xC2 else { return bytes }
        let length = bytes[lead] >= 0xF0 ? 4 : bytes[lead] >= 0xE0 ? 3 : 2
        return lead + length > bytes.endIndex ? bytes[..<lead] : bytes
    }

    private static func decodeUTF8(_ bytes: ArraySlice<UInt8>) -> String {
        withoutZeros(String(decoding: bytes, as: UTF8.self), bytes)
    }

    private static func decodeLatin1(_ bytes: ArraySlice<UInt8>) -> String {
        var units: [UInt8] = []
        units.reserveCapacity(bytes.count + bytes.count / 4)
        for byte in bytes {
            if byte < 0x80 {
                units.append(byte == 0 ? UInt8(ascii: " ") : byte)
            } else {
                units.append(0xC0 | byte >> 6)
                units.append(0x80 | byte & 0x3F)
            }
        }
        return String(decoding: units, as: UTF8.self)
    }

    private static func decodeUTF16(_ bytes: ArraySlice<UInt8>, low: Int) -> String {
        let units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { index -> UInt16 in
            let unit = UInt16(bytes[index + low]) | UInt16(bytes[index + 1 - low]) << 8
            return unit == 0 ? 0x20 : unit
        }
        return String(decoding: units, as: UTF16.self)
    }

    private static func withoutZeros(_ text: String, _ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(0) else { return text }
        return String(decoding: text.utf8.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }
}
