/// Text for a terminal, whose columns are counted; pure functions.
enum TerminalText {
    /// Returns the text without control characters: each appears as its number.
    ///
    /// A name or a reason must not move the cursor, and no mark may turn the direction of writing.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The number of columns of a text without control characters. Ideographs, full-width forms and emoji take two.
    static func columns(of text: some StringProtocol) -> Int { text.reduce(0) { $0 + columns(of: $1) } }

    private static func columns(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }

    /// Cuts a text to a number of columns. An ellipsis takes the place of the rest.
    static func cut(_ text: String, toColumns limit: Int) -> String {
        guard columns(of: text) > limit else { return text }
        guard limit > 0 else { return "" }
        var (result, used) = ("", 0)
        for character in text {
            let width = columns(of: character)
            guard used + width <= limit - 1 else { break }
            result.append(character)
            used += width
        }
        return result + "…"
    }

    /// Fills a text with spaces up to a number of columns.
    static func padded(_ text: String, toColumns width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - columns(of: text)))
    }
}
