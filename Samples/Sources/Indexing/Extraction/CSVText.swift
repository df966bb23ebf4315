/// Takes the cells out of comma-separated values, RFC 4180: without quotes, with a tab between two of them.
///
/// The separator is the most frequent of comma, semicolon and tab in the first line. Each line feed stays. Memory and
/// time: O(n); the text is never longer than the source.
enum CSVText {
    /// Returns the text.
    static func read(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let separator = separator(of: bytes)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var isQuoted = false
        var isAtStart = true
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            if isQuoted {
                guard byte == UInt8(ascii: "\"") else {
                    text.append(byte)
                    continue
                }
                isQuoted = position < bytes.endIndex && bytes[position] == byte
                if isQuoted {
                    text.append(byte)
                    position += 1
                }
            } else if byte == UInt8(ascii: "\""), isAtStart {
                isQuoted = true
            } else {
                text.append(byte == separator ? UInt8(ascii: "\t") : byte)
            }
            isAtStart = byte == separator || byte == UInt8(ascii: "\n")
        }
        return text
    }

    private static func separator(of bytes: ArraySlice<UInt8>) -> UInt8 {
        let line = bytes.prefix(4096).prefix { $0 != UInt8(ascii: "\n") }
        let candidates = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
        let counts = candidates.map { candidate in line.count { $0 == candidate } }
        let best = counts.indices.max { counts[$0] < counts[$1] || (counts[$0] == counts[$1] && $0 > $1) } ?? 0
        return candidates[best]
    }
}
