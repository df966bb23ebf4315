internal import Foundation

/// Splits UTF-8 text into words as the tokenizer of the index does: runs of letters, digits and private characters.
///
/// It serves snippets only. If its folding differs from SQLite's, a match is found and not marked.
struct TokenScanner {
    /// A word and its place.
    struct Token {
        var range: Range<Int>
        var isASCII: Bool
    }

    let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Returns the next word, or nil at the end. O(its length and that of the gap before it).
    mutating func next() -> Token? {
        var start: Int?
        var isASCII = true
        while position < bytes.endIndex {
            let byte = bytes[position]
            let (isWord, length) = byte < 0x80 ? (Self.isWord(ascii: byte), 1) : decode(inWord: start != nil)
            if isWord {
                if start == nil { start = position }
                if byte >= 0x80 { isASCII = false }
            } else if let start {
                return Token(range: start..<position, isASCII: isASCII)
            }
            position += length
        }
        return start.map { Token(range: $0..<position, isASCII: isASCII) }
    }

    /// Returns the word in lower case and without accents.
    func folded(_ token: Token) -> [UInt8] {
        let word = bytes[token.range]
        guard !token.isASCII else { return word.map(Self.folded(ascii:)) }
        let text = String(decoding: word, as: UTF8.self)
        return Array(text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil).utf8)
    }

    /// Returns the small letter of a capital, and everything else as it is.
    static func folded(ascii byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }

    private static func isWord(ascii byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    /// Returns whether the character at the position belongs to a word, and its length in bytes.
    private func decode(inWord: Bool) -> (isWord: Bool, length: Int) {
        var decoder = UTF8()
        var rest = bytes[position...].prefix(4).makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&rest) else { return (false, 1) }
        let isWord = scalar.isWordCharacter || (inWord && scalar.properties.generalCategory == .nonspacingMark)
        return (isWord, UTF8.width(scalar))
    }
}

extension Unicode.Scalar {
    /// Whether the tokenizer takes the character as part of a word: categories L*, N*, Co.
    var isWordCharacter: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber, .letterNumber, .otherNumber, .privateUse:
            true
        default:
            false
        }
    }
}
