internal import Foundation

/// Splits UTF-8 text into words as the tokenizer of the index does, at their places in the original text.
///
/// It serves snippets only. If its folding differs from SQLite's, a match is found and not marked.
struct TokenScanner {
    /// A word and its place.
    struct Token {
        var range: Range<Int>
        var isASCII: Bool
        /// Whether it is a character of a script without spaces.
        var isUnit: Bool
    }

    let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Returns the next word, or nil at the end. O(its length and that of the gap before it).
    mutating func next() -> Token? {
        var token: Token?
        while position < bytes.endIndex {
            let byte = bytes[position]
            let (part, length): (WordText.Part, Int)
            if byte < 0x80 {
                (part, length) = (Self.isWord(ascii: byte) ? .letter : .separator, 1)
            } else {
                let (scalar, count) = WordText.decode(bytes, at: position)
                (part, length) = (WordText.part(of: scalar), count)
            }
            switch (part, token) {
            case (.separator, nil), (.invisible, nil): break
            case (.unit, nil): token = Token(range: position..<(position + length), isASCII: false, isUnit: true)
            case (.letter, nil), (.mark, nil):
                token = Token(range: position..<(position + length), isASCII: byte < 0x80, isUnit: false)
            case (.separator, _?), (.unit, _?): return token
            case (.letter, let old?):
                if old.isUnit { return old }
                token?.range = old.range.lowerBound..<(position + length)
                if byte >= 0x80 { token?.isASCII = false }
            case (.mark, let old?), (.invisible, let old?):
                token?.range = old.range.lowerBound..<(position + length)
                token?.isASCII = false
            }
            position += length
        }
        return token
    }

    /// Returns the word in lower case and without accents.
    func folded(_ token: Token) -> [UInt8] {
        let word = bytes[token.range]
        guard !token.isASCII else { return word.map(Self.folded(ascii:)) }
        // The accents of such characters are not those that the tokenizer removes.
        return token.isUnit ? WordText.prepared(Array(word), splits: false) : WordText.folded(Array(word))
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
}

extension Unicode.Scalar {
    /// Whether the tokenizer takes the character as part of a word.
    var isWordCharacter: Bool {
        switch WordText.part(of: self) {
        case .letter, .unit, .mark: true
        case .invisible, .separator: false
        }
    }
}
