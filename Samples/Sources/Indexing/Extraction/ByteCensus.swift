/// Counts of bytes that tell text from binary and one encoding from another. O(n) over the bytes.
struct ByteCensus: Equatable {
    /// The number of examined bytes.
    var total = 0
    /// Control characters that text does not use.
    var controls = 0
    /// Bytes of 0x80 and above.
    var high = 0
    /// Complete UTF-8 sequences of two to four bytes.
    var sequences = 0
    /// High bytes outside of such sequences.
    var invalid = 0

    init(_ bytes: ArraySlice<UInt8>) {
        total = bytes.count
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte < 0x80 {
                if Self.isUnusualControl(byte) { controls += 1 }
                index += 1
                continue
            }
            let length = Self.sequenceLength(bytes, at: index)
            if length == 0 {
                invalid += 1
                high += 1
                index += 1
            } else {
                sequences += 1
                high += length
                index += length
            }
        }
    }

    private static func isUnusualControl(_ byte: UInt8) -> Bool {
        switch byte {
        // Backspace, tab, line feed, vertical tab, form feed, carriage return and escape occur in logs and manuals.
        case 0x08...0x0D, 0x1B: false
        case 0x00..<0x20, 0x7F: true
        default: false
        }
    }

    /// Returns the length of the sequence that starts at `index`, or 0 when it is malformed. Unicode 15, table 3-7,
    /// without the exclusion of surrogates, which makes no difference to a count.
    private static func sequenceLength(_ bytes: ArraySlice<UInt8>, at index: Int) -> Int {
        let length =
            switch bytes[index] {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 0
            }
        guard length > 0, index + length <= bytes.endIndex else { return 0 }
        return bytes[(index + 1)..<(index + length)].allSatisfy { $0 & 0xC0 == 0x80 } ? length : 0
    }
}
