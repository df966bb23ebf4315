/// The text of some bytes.
struct DecodedText: Equatable {
    var text: String
    /// What could not be decoded, for people; nil if all was.
    var problem: String?
}

/// Turns bytes into text, or reports that they are not text.
///
/// The first rule that applies decides:
///
/// 1. A byte order mark names the encoding.
/// 2. Zeros in every second byte of the first 8 KiB mean UTF-16 without a mark; another zero there means binary.
/// 3. Valid UTF-8 is taken as it is, unless it is ASCII of a declared charset that hides its letters in ASCII.
/// 4. A declared charset is decoded by the C library.
/// 5. Mostly valid UTF-8 is repaired with U+FFFD, which is a problem of the file.
/// 6. Other bytes are windows-1252, windows-1251 or KOI8-R by their letters (``LegacyCharset``). If they are none of
///    these, the text is empty, and that is a problem of the file: text in a wrong charset would be found by nobody.
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
    ///   - declared: The name of the charset that the file itself gives, if it gives one.
    static func decode(
        _ bytes: [UInt8], type: FileType, isTruncated: Bool, declared: String? = nil
    ) -> DecodedText? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            return repaired(whole(bytes.dropFirst(3), isTruncated))
        }
        // The mark of UTF-32 starts like that of UTF-16. It is so rare that it counts as binary.
        if bytes.starts(with: [0xFF, 0xFE, 0x00, 0x00]) { return nil }
        if bytes.starts(with: [0xFF, 0xFE]) { return DecodedText(text: decodeUTF16(bytes.dropFirst(2), low: 0)) }
        if bytes.starts(with: [0xFE, 0xFF]) { return DecodedText(text: decodeUTF16(bytes.dropFirst(2), low: 1)) }
        let sample = bytes.prefix(sniffLength)
        guard !sample.contains(0) else {
            return LegacyCharset.lowByteOfUTF16(sample).map { DecodedText(text: decodeUTF16(bytes[...], low: $0)) }
        }
        let body = whole(bytes[...], isTruncated)
        let charset = declared.flatMap(Charset.init(named:))
        if charset?.isHiddenInASCII != true, let text = String(validating: body, as: UTF8.self) {
            return looksBinary(ByteCensus(sample), type) ? nil : DecodedText(text: withoutZeros(text, body))
        }
        if let declared, charset?.isUTF8 != true {
            guard let charset else {
                return DecodedText(text: "", problem: "the charset \"\(declared.prefix(40))\" is not known")
            }
            let (text, errors) = charset.decode(bytes, isTruncated: isTruncated)
            guard errors * 20 > bytes.count else {
                return DecodedText(text: text, problem: problem(errors, charset.name))
            }
            // So wrong a declaration says nothing.
        }
        let census = ByteCensus(body)
        if census.invalid * 10 <= census.sequences {
            return looksBinary(census, type) ? nil : repaired(body)
        }
        guard let guess = LegacyCharset(sample) else {
            return looksBinary(census, type)
                ? nil : DecodedText(text: "", problem: "the charset of the text is not known; save it as UTF-8")
        }
        guard !looksBinary(census, type) || (guess != .windows1252 && census.controls * 20 <= census.total) else {
            return nil
        }
        if guess == .windows1252 { return DecodedText(text: decodeWindows1252(bytes)) }
        return Charset(named: guess.rawValue).map { DecodedText(text: $0.decode(bytes, isTruncated: isTruncated).text) }
            ?? DecodedText(text: "", problem: "the C library has no charset \(guess.rawValue)")
    }

    private static func problem(_ errors: Int, _ name: String) -> String? {
        errors == 0 ? nil : "\(errors) bytes are not \(name); the rest is indexed"
    }

    /// Takes UTF-8 with bytes in it that are none.
    private static func repaired(_ bytes: ArraySlice<UInt8>) -> DecodedText {
        let errors = String(validating: bytes, as: UTF8.self) == nil ? max(1, ByteCensus(bytes).invalid) : 0
        return DecodedText(text: decodeUTF8(bytes), problem: problem(errors, "UTF-8"))
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

    /// Decodes windows-1252, as browsers do: an unused byte is a control character.
    static func decodeWindows1252(_ bytes: [UInt8]) -> String {
        var units: [UInt8] = []
        units.reserveCapacity(bytes.count + bytes.count / 4)
        for byte in bytes {
            if byte < 0x80 {
                units.append(byte == 0 ? UInt8(ascii: " ") : byte)
            } else if byte < 0xA0 {
                units += String(LegacyCharset.windows1252Specials[Int(byte) - 0x80]).utf8
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
