internal import Glibc

/// A charset of the C library, iconv(3).
struct Charset {
    /// The name as the C library has it.
    let name: String

    /// Finds a charset by a name of MIME or HTML; nil if the C library does not have it.
    init?(named name: String) {
        let plain = name.lowercased().filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" }
        // A slash would begin an option of iconv.
        guard (1...40).contains(plain.utf8.count), plain.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x2F })
        else {
            return nil
        }
        let chosen = Self.aliases[plain] ?? plain
        guard let converter = Converter(from: chosen) else { return nil }
        withExtendedLifetime(converter) {}
        self.name = chosen
    }

    /// The names that mean a larger charset in practice (WHATWG Encoding), or that the C library spells otherwise.
    private static let aliases = [
        "iso-8859-1": "windows-1252", "iso8859-1": "windows-1252", "latin1": "windows-1252", "l1": "windows-1252",
        "us-ascii": "windows-1252", "ascii": "windows-1252", "cp1252": "windows-1252", "x-cp1252": "windows-1252",
        "x-cp1251": "windows-1251", "koi8": "koi8-r", "iso-8859-9": "windows-1254", "latin5": "windows-1254",
        "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "shift_jis": "cp932", "shift-jis": "cp932",
        "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932", "ks_c_5601-1987": "uhc", "euc-kr": "uhc",
        "x-mac-roman": "macintosh", "macroman": "macintosh", "x-mac-cyrillic": "mac-cyrillic", "utf8": "utf-8",
        "unicode-1-1-utf-8": "utf-8", "iso-8859-8-i": "iso-8859-8", "tis-620": "cp874", "windows-874": "cp874",
    ]

    /// Whether it is UTF-8.
    var isUTF8: Bool { name == "utf-8" }

    /// Whether text in it may have ASCII bytes alone, and other letters all the same.
    var isHiddenInASCII: Bool {
        name.hasPrefix("iso-2022") || name == "utf-7" || name == "hz" || name.hasPrefix("utf-16")
    }

    /// Decodes bytes. O(n).
    ///
    /// - Parameter isTruncated: Whether a character that is cut at the end is no fault.
    /// - Returns: The text, with U+FFFD for each wrong byte and spaces for zeros, and the number of wrong bytes.
    func decode(_ bytes: [UInt8], isTruncated: Bool) -> (text: String, errors: Int) {
        guard let converter = Converter(from: name) else { return ("", bytes.count) }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        var errors = 0
        var position = 0
        while position < bytes.count {
            switch converter.convert(bytes, from: &position, into: &text) {
            case 0, E2BIG: break
            case EINVAL:
                if !isTruncated { errors += bytes.count - position }
                position = bytes.count
            default:
                errors += 1
                position += 1
                text += "\u{FFFD}".utf8
            }
        }
        for index in text.indices where text[index] == 0 { text[index] = UInt8(ascii: " ") }
        return (String(decoding: text, as: UTF8.self), errors)
    }

    // MARK: Declarations

    /// Returns the charset that a page or an XML file names in its first 4 KiB; nil if it names none.
    static func declared(in bytes: [UInt8], isHTML: Bool) -> String? {
        let head = bytes.prefix(4096).map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
        if head.starts(with: "<?xml".utf8) {
            let line = head.prefix { $0 != UInt8(ascii: ">") }
            if let name = value(of: "encoding", in: line[...]) { return name }
        }
        guard isHTML else { return nil }
        var rest = head[...]
        while let tag = rest.firstRange(of: Array("<meta".utf8)) {
            let attributes = rest[tag.upperBound...].prefix { $0 != UInt8(ascii: ">") }
            if let name = value(of: "charset", in: attributes) { return name }
            rest = rest[attributes.endIndex...]
        }
        return nil
    }

    /// Returns the text behind `name=`, without quotes.
    private static func value(of name: String, in bytes: ArraySlice<UInt8>) -> String? {
        guard let place = bytes.firstRange(of: Array(name.utf8)) else { return nil }
        let rest = bytes[place.upperBound...].drop { $0 <= 0x20 }
        guard rest.first == UInt8(ascii: "=") else { return nil }
        let quotes = [UInt8(ascii: "\""), UInt8(ascii: "'")]
        let value = rest.dropFirst().drop { $0 <= 0x20 || quotes.contains($0) }
            .prefix {
                $0 > 0x20 && !quotes.contains($0)
                    && ![UInt8(ascii: ";"), UInt8(ascii: "/"), UInt8(ascii: "?")].contains($0)
            }
        return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
    }
}

/// An open conversion to UTF-8. One thread at a time; it is closed at the end of its life.
@safe private final class Converter {
    private let handle: iconv_t

    init?(from name: String) {
        guard let handle = unsafe iconv_open("UTF-8", name), Int(bitPattern: handle) != -1 else { return nil }
        unsafe self.handle = handle
    }

    deinit {
        unsafe iconv_close(handle)
    }

    /// Converts as much as one piece of output takes. Returns an error number, or 0.
    func convert(_ bytes: [UInt8], from position: inout Int, into text: inout [UInt8]) -> Int32 {
        var output = [CChar](repeating: 0, count: min(1 << 16, (bytes.count - position) * 4 + 64))
        let (room, start) = (output.count, position)
        var (left, free) = (bytes.count - start, room)
        // SAFETY: the pointers are used within the closures that own them, and iconv gets the lengths behind them. It only
        // reads its input, whatever the type of the parameter says.
        let code = unsafe bytes.withUnsafeBytes { input in
            unsafe output.withUnsafeMutableBufferPointer { buffer -> Int32 in
                var from = unsafe UnsafeMutablePointer(
                    mutating: input.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self))
                var to = buffer.baseAddress
                let result = unsafe iconv(handle, &from, &left, &to, &free)
                return result == -1 ? errno : 0
            }
        }
        position = bytes.count - left
        text += output[..<(room - free)].map { UInt8(bitPattern: $0) }
        return code
    }
}
