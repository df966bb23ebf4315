/// The character references of HTML: numbers, the names of HTML 4 for Latin-1, and some more.
enum HTMLReference {
    /// Reads a reference at an `&`. Returns the character and the place behind it; nil if there is none.
    static func read(_ bytes: ArraySlice<UInt8>, at start: Int) -> (Unicode.Scalar, end: Int)? {
        let rest = bytes[(start + 1)...].prefix(12)
        let number = rest.first == UInt8(ascii: "#")
        let body = number ? rest.dropFirst() : rest
        let isHexadecimal = number && (body.first ?? 0) | 0x20 == UInt8(ascii: "x")
        let digits = isHexadecimal ? body.dropFirst() : body
        let token = digits.prefix { byte in
            switch byte {
            case 0x30...0x39: true
            case 0x41...0x46, 0x61...0x66: !number || isHexadecimal
            case 0x41...0x5A, 0x61...0x7A: !number
            default: false
            }
        }
        guard !token.isEmpty else { return nil }
        let end = bytes[token.endIndex...].first == UInt8(ascii: ";") ? token.endIndex + 1 : token.endIndex
        let text = String(decoding: token, as: UTF8.self)
        if number {
            let value = UInt32(text, radix: isHexadecimal ? 16 : 10) ?? 0
            let scalar = value == 0 ? nil : Unicode.Scalar(value)
            return (scalar ?? "\u{FFFD}", end)
        }
        // Without a semicolon it may be a part of an address.
        guard end > token.endIndex else { return nil }
        return names[text].map { ($0, end) }
    }

    /// The names of U+00A0 to U+00FF, in order.
    private static let latin = """
        nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute \
        micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig \
        Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash \
        Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute \
        ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc \
        uuml yacute thorn yuml
        """

    private static let names: [String: Unicode.Scalar] = {
        var names: [String: Unicode.Scalar] = [
            "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "ndash": "\u{2013}", "mdash": "\u{2014}",
            "lsquo": "\u{2018}", "rsquo": "\u{2019}", "sbquo": "\u{201A}", "ldquo": "\u{201C}", "rdquo": "\u{201D}",
            "bdquo": "\u{201E}", "bull": "\u{2022}", "hellip": "\u{2026}", "euro": "\u{20AC}", "trade": "\u{2122}",
            "ensp": "\u{2002}", "emsp": "\u{2003}", "thinsp": "\u{2009}", "larr": "\u{2190}", "rarr": "\u{2192}",
            "OElig": "\u{152}", "oelig": "\u{153}", "Scaron": "\u{160}", "scaron": "\u{161}",
        ]
        for (offset, name) in latin.split(separator: " ").enumerated() {
            names[String(name)] = Unicode.Scalar(UInt8(0xA0 + offset))
        }
        return names
    }()
}
