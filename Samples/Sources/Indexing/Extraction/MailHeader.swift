/// The header of a message or of a part of one, RFC 5322.
struct MailHeader {
    private var fields: [String: [UInt8]] = [:]
    /// The place of the first byte behind the header.
    private(set) var end: Int

    /// Reads the fields up to an empty line, or up to a line that is no field.
    init(_ bytes: ArraySlice<UInt8>) {
        end = bytes.startIndex
        var current: String?
        while end < bytes.endIndex {
            let line = MailText.line(bytes, at: end)
            let text = MailText.withoutEnd(line)
            if text.isEmpty {
                end = line.endIndex
                return
            }
            if text.first == UInt8(ascii: " ") || text.first == UInt8(ascii: "\t") {
                if let current, let field = fields[current], field.count < Self.lengthLimit {
                    fields[current] = field + text.prefix(Self.lengthLimit)
                }
            } else if let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > text.startIndex,
                text[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            {
                let name = String(decoding: text[..<colon], as: UTF8.self).lowercased()
                // Only the fields that count, and each once: a hostile header has millions.
                current = Self.known.contains(name) && fields[name] == nil ? name : nil
                if let current { fields[current] = Array(text[(colon + 1)...].prefix(Self.lengthLimit)) }
            } else {
                return
            }
            end = line.endIndex
        }
    }

    /// Returns the text of a field without encoded words; nil without the field.
    func text(_ name: String) -> String? {
        fields[name].map { Self.decoded($0[...]).trimming() }
    }

    /// Returns the first word of a field in lower case, and a parameter such as `boundary`.
    func value(_ name: String, parameter: String = "") -> (value: String, parameter: String?) {
        let parts = String(decoding: fields[name] ?? [], as: UTF8.self).split(separator: ";")
        let value = parts.first.map { String($0).trimming().lowercased() } ?? ""
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map { String($0).trimming() }
            guard pair.count == 2, pair[0].lowercased() == parameter else { continue }
            return (value, pair[1].filter { $0 != "\"" })
        }
        return (value, nil)
    }

    private static let lengthLimit = 8192
    private static let known: Set<String> = [
        "from", "to", "cc", "subject", "date", "content-type", "content-transfer-encoding",
    ]

    /// Decodes encoded words such as `=?utf-8?Q?caf=C3=A9?=`, RFC 2047.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        var result = ""
        var rest = bytes
        var wasEncoded = false
        while let start = rest.indices.first(where: { rest[$0...].starts(with: "=?".utf8) }) {
            let parts = rest[(start + 2)...].split(
                separator: UInt8(ascii: "?"), maxSplits: 3, omittingEmptySubsequences: false)
            let plain = rest[..<start]
            guard parts.count == 4, parts[3].first == UInt8(ascii: "="), let kind = parts[1].first else { break }
            // A space between two encoded words only separates them.
            if !(wasEncoded && plain.allSatisfy { $0 <= 0x20 }) { result += String(decoding: plain, as: UTF8.self) }
            let isBase64 = kind | 0x20 == UInt8(ascii: "b")
            let word =
                isBase64
                ? TransferEncoding.base64(parts[2]) : TransferEncoding.quotedPrintable(parts[2], isHeader: true)
            // RFC 2231 lets a language follow the charset.
            let charset = String(decoding: parts[0].prefix { $0 != UInt8(ascii: "*") }, as: UTF8.self)
            result += TextDecoder.decode(word, type: .text, isTruncated: false, declared: charset)?.text ?? ""
            rest = parts[3].dropFirst()
            wasEncoded = true
        }
        return result + (TextDecoder.decode(Array(rest), type: .text, isTruncated: false)?.text ?? "")
    }
}

extension String {
    /// Returns the text without white space at its ends.
    fileprivate func trimming() -> String {
        let isSpace: (Character) -> Bool = \.isWhitespace
        return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
