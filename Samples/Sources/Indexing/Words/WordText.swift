internal import Foundation

/// The form of texts and queries in which words are compared.
///
/// The index keeps each text as it is, and makes this form only for the tokenizer. The words of a query take the same
/// way, so both sides agree by construction:
///
/// 1. Compatibility forms become plain ones (NFKC): decomposed accents and Hangul, ligatures, full width.
/// 2. Invisible characters go: soft hyphens, zero-width ones, marks of direction, selectors of variants.
/// 3. Accents that have no composed form go. The tokenizer removes those of composed letters.
/// 4. Scripts without spaces between words are split into characters, each with its marks. A word of such a script is a
///    phrase of them, so it is found wherever it stands. Hangul is split too, because particles follow a word directly.
///
/// Text in ASCII is its own form and is not copied. Time: O(n).
enum WordText {
    /// The longest run that is normalised at once, in bytes: a hostile text has millions of marks on one letter.
    private static let runLimit = 512

    /// The part that a character plays.
    enum Part {
        /// A letter or a digit, in a script with spaces.
        case letter
        /// A character that is a word of its own.
        case unit
        /// A mark on the character before it, or a Jamo that completes a syllable.
        case mark
        /// No part of a word, and no end of one.
        case invisible
        /// Everything else separates words.
        case separator
    }

    /// Returns whether bytes are ASCII. O(n), eight bytes at a time.
    static func isASCII(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        let fast = bytes.withContiguousStorageIfAvailable { storage in
            let raw = UnsafeRawBufferPointer(storage)
            var index = 0
            while index + 8 <= raw.count {
                let word = unsafe raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                if word & 0x8080_8080_8080_8080 != 0 { return false }
                index += 8
            }
            while index < raw.count {
                if unsafe raw[index] >= 0x80 { return false }
                index += 1
            }
            return true
        }
        return fast ?? bytes.allSatisfy { $0 < 0x80 }
    }

    /// Returns the form of a text in UTF-8.
    ///
    /// - Parameter splits: Whether to put spaces around the characters of scripts without spaces.
    static func prepared(_ bytes: [UInt8], splits: Bool = true) -> [UInt8] {
        var form = Form(capacity: bytes.count + bytes.count / 4, splits: splits)
        var position = 0
        /// The beginning of characters that wait: the last plain one, and those behind it that need work.
        var waiting = 0
        var needsWork = false
        func settle(until end: Int) {
            guard waiting < end else { return }
            needsWork ? form.append(normalised: bytes[waiting..<end]) : form.append(plain: bytes[waiting..<end])
        }
        while position < bytes.count {
            if bytes[position] < 0x80 {
                settle(until: position)
                // A mark may follow the last one.
                let end = bytes[position...].firstIndex { $0 >= 0x80 } ?? bytes.count
                if end - position > 1 { form.append(plain: bytes[position..<(end - 1)]) }
                (waiting, needsWork, position) = (end - 1, false, end)
                continue
            }
            let (scalar, length) = decode(bytes[...], at: position)
            if isPlain(scalar.value) {
                settle(until: position)
                (waiting, needsWork) = (position, false)
            } else {
                if needsWork, position - waiting > runLimit {
                    settle(until: position)
                    waiting = position
                }
                needsWork = true
            }
            position += length
        }
        settle(until: bytes.count)
        return form.finish()
    }

    /// Returns a text without regard to capitals, accents and compatibility forms. For comparisons outside of the index.
    static func folded(_ bytes: [UInt8]) -> [UInt8] {
        if isASCII(bytes) { return bytes.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 } }
        let text = String(decoding: prepared(bytes, splits: false), as: UTF8.self)
        return Array(text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil).utf8)
    }

    /// Returns the character at a place of text in UTF-8, and its length. A byte that begins none is U+FFFD.
    static func decode(_ bytes: ArraySlice<UInt8>, at position: Int) -> (scalar: Unicode.Scalar, length: Int) {
        let first = UInt32(bytes[position])
        if first < 0x80 { return (Unicode.Scalar(bytes[position]), 1) }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard (0xC2...0xF4).contains(first), position + length <= bytes.endIndex else { return ("\u{FFFD}", 1) }
        var value = first & (0x7F >> UInt32(length))
        for index in (position + 1)..<(position + length) {
            guard bytes[index] & 0xC0 == 0x80 else { return ("\u{FFFD}", 1) }
            value = value << 6 | UInt32(bytes[index] & 0x3F)
        }
        guard let scalar = Unicode.Scalar(value), value >= (length == 4 ? 0x1_0000 : length == 3 ? 0x800 : 0x80) else {
            return ("\u{FFFD}", 1)
        }
        return (scalar, length)
    }

    /// Returns the part that a character plays in a text that is not normalised.
    static func part(of scalar: Unicode.Scalar) -> Part {
        let value = scalar.value
        if value < 0x80 {
            return (0x30...0x39).contains(value) || (0x61...0x7A).contains(value | 0x20) && value > 0x40
                ? .letter : .separator
        }
        if isInvisible(value) { return .invisible }
        if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) { return .mark }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark: return .mark
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            return isUnit(value) ? .unit : .letter
        default: return .separator
        }
    }

    /// Whether a character is a word of its own: ideographs, kana, Hangul, Thai, Lao, Myanmar and Khmer.
    static func isUnit(_ value: UInt32) -> Bool {
        switch value {
        case 0x0E01...0x0E4E, 0x0E80...0x0ECD, 0x0EDC...0x0EDF, 0x1000...0x103F, 0x1050...0x108F, 0x1100...0x115F,
            0x1780...0x17D3, 0x2E80...0x2FDF, 0x3005...0x3007, 0x3021...0x3029, 0x3031...0x3035, 0x3041...0x30FA,
            0x30FC...0x312F, 0x3131...0x31BF, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA960...0xA97F,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFF66...0xFFDC, 0x1B000...0x1B16F, 0x20000...0x3FFFF:
            true
        default: false
        }
    }

    /// Whether a character neither shows nor separates words.
    private static func isInvisible(_ value: UInt32) -> Bool {
        switch value {
        case 0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F, 0x200B...0x200F,
            0x202A...0x202E, 0x2060...0x206F, 0xFE00...0xFE0F, 0xFEFF, 0xE0000...0xE0FFF:
            true
        default: false
        }
    }

    /// Whether a character is certain to stay as it is, and to begin anew: nothing before it changes its form. Other
    /// characters may do so, too. The list has the letters of most texts, so that these are only copied.
    private static func isPlain(_ value: UInt32) -> Bool {
        switch value {
        case 0x00C0...0x0131, 0x0134...0x013E, 0x0141...0x0148, 0x014A...0x017E, 0x0180...0x01C3, 0x01CD...0x01F0,
            0x0391...0x03CE, 0x0400...0x0482, 0x048A...0x052F, 0x0531...0x0556, 0x05D0...0x05EA, 0x0621...0x064A,
            0x0660...0x0669, 0x0E01...0x0E30, 0x0E32, 0x0E40...0x0E46, 0x0E50...0x0E59, 0x1E00...0x1E99,
            0x1EA0...0x1EF9, 0x2010, 0x2012...0x2016, 0x2018...0x201F, 0x2022, 0x20AC, 0x3001...0x3029,
            0x3041...0x3096, 0x309D...0x309E, 0x30A1...0x30FE, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3,
            0xFFFD, 0x1F300...0x1FAFF, 0x20000...0x2A6DF:
            true
        default: false
        }
    }

    /// The form while it is made.
    private struct Form {
        private var bytes: [UInt8] = []
        private let splits: Bool
        /// Whether the last character is a unit, behind which a space belongs.
        private var isInUnit = false

        init(capacity: Int, splits: Bool) {
            self.splits = splits
            bytes.reserveCapacity(capacity)
        }

        /// Appends characters that stay as they are: one, or some of ASCII.
        mutating func append(plain text: ArraySlice<UInt8>) {
            guard let first = text.first else { return }
            let isUnit = splits && first >= 0xE0 && WordText.isUnit(WordText.decode(text, at: text.startIndex).0.value)
            endUnit()
            if isUnit { bytes.append(UInt8(ascii: " ")) }
            bytes += text
            isInUnit = isUnit
        }

        /// Appends characters in their normal form.
        mutating func append(normalised text: ArraySlice<UInt8>) {
            // Without the invisible ones: a letter and its accent may have one between them.
            let visible = String(decoding: text, as: UTF8.self).unicodeScalars.filter {
                !WordText.isInvisible($0.value)
            }
            // Twice: Foundation does not order and compose the marks that the first step makes of others, as of ﾞ.
            let normal = String(String.UnicodeScalarView(visible)).precomposedStringWithCompatibilityMapping
                .precomposedStringWithCanonicalMapping
            for scalar in normal.unicodeScalars { append(scalar) }
        }

        /// Returns the bytes.
        mutating func finish() -> [UInt8] {
            endUnit()
            return bytes
        }

        private mutating func append(_ scalar: Unicode.Scalar) {
            let value = scalar.value
            // What is left of the accents after the composition stands on letters that have no such form.
            if WordText.isInvisible(value) || (0x0300...0x036F).contains(value) { return }
            if splits, WordText.isUnit(value) {
                switch scalar.properties.generalCategory {
                case .nonspacingMark, .spacingMark: break
                default:
                    endUnit()
                    bytes.append(UInt8(ascii: " "))
                    isInUnit = true
                }
            } else if isInUnit, value != 0x3099, value != 0x309A {
                endUnit()
            }
            bytes += String(scalar).utf8
        }

        private mutating func endUnit() {
            if isInUnit { bytes.append(UInt8(ascii: " ")) }
            isInUnit = false
        }
    }
}
