/// Takes the strings, keys and numbers out of JSON, and the words of comments.
///
/// It splits the text and checks no grammar. So lines of JSON, JSON with comments and a file that is cut all have their
/// text. Each line feed stays. Memory and time: O(n); the text is never longer than the source.
enum JSONText {
    /// Returns the text.
    static func read(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position = readString(bytes, from: position + 1, into: &text)
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ","),
                UInt8(ascii: ":"):
                text.append(UInt8(ascii: " "))
                position += 1
            case 0x61...0x7A:
                let word = bytes[position...].prefix { (0x61...0x7A).contains($0) }
                if ![Array("true".utf8), Array("false".utf8), Array("null".utf8)].contains(Array(word)) {
                    text += word
                }
                position = word.endIndex
            default:
                text.append(byte)
                position += 1
            }
        }
        return text
    }

    /// Reads a string behind its quote. Returns the place behind it. A line feed ends it: none may be in a string.
    private static func readString(_ bytes: ArraySlice<UInt8>, from start: Int, into text: inout [UInt8]) -> Int {
        var position = start
        while position < bytes.endIndex {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                text.append(UInt8(ascii: " "))
                return position + 1
            case UInt8(ascii: "\n"): return position
            case UInt8(ascii: "\\"): position = readEscape(bytes, from: position + 1, into: &text)
            default:
                text.append(byte)
                position += 1
            }
        }
        return position
    }

    private static func readEscape(_ bytes: ArraySlice<UInt8>, from start: Int, into text: inout [UInt8]) -> Int {
        guard start < bytes.endIndex else { return start }
        switch bytes[start] {
        case UInt8(ascii: "u"):
            guard let unit = hexadecimal(bytes, from: start + 1) else { return start + 1 }
            var end = start + 5
            var scalar = Unicode.Scalar(UInt32(unit))
            if UTF16.isLeadSurrogate(unit), bytes[end...].starts(with: "\\u".utf8),
                let low = hexadecimal(bytes, from: end + 2), UTF16.isTrailSurrogate(low)
            {
                scalar = Unicode.Scalar(0x1_0000 + (UInt32(unit) - 0xD800) << 10 + UInt32(low) - 0xDC00)
                end += 6
            }
            // A zero would end the text in the database.
            text += String(scalar == "\0" ? " " : scalar ?? "\u{FFFD}").utf8
            return end
        // Control characters separate words. A line feed would move the numbers of the lines.
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "b"), UInt8(ascii: "f"):
            text.append(UInt8(ascii: " "))
        case UInt8(ascii: "\n"): return start
        case let byte: text.append(byte)
        }
        return start + 1
    }

    private static func hexadecimal(_ bytes: ArraySlice<UInt8>, from start: Int) -> UInt16? {
        guard start + 4 <= bytes.endIndex else { return nil }
        let digits = bytes[start..<(start + 4)]
        guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
