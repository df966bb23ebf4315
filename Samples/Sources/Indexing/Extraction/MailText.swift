/// Takes the text out of a mailbox (mbox, RFC 4155) or of a single message: the header's people, subject and date, and
/// the parts of text and HTML. Attachments are left out.
///
/// Memory and time: O(n), with a bound on nested parts. The text may have a few bytes more than the source for each
/// field, and no more than `limit`.
struct MailText {
    /// The maximum depth of parts in parts.
    private static let depthLimit = 8

    private(set) var text: [UInt8] = []
    /// The subject of the first message.
    private(set) var title = ""
    /// What could not be decoded, for people; nil if all was.
    private(set) var problem: String?
    private let limit: Int

    /// Reads a mailbox.
    init(_ bytes: ArraySlice<UInt8>, limit: Int) {
        self.limit = limit
        var start = bytes.startIndex
        while start < bytes.endIndex, text.count < limit {
            let end = Self.nextMessage(bytes, after: start)
            readMessage(bytes[start..<end])
            start = end
        }
        if text.count > limit { text.removeLast(text.count - limit) }
    }

    /// Whether the bytes begin as a mailbox does: a line `From …`, then a field of a header.
    static func isMailbox(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.starts(with: mark) else { return false }
        let second = line(bytes, at: line(bytes, at: bytes.startIndex).endIndex)
        guard let colon = second.firstIndex(of: UInt8(ascii: ":")), colon > second.startIndex else { return false }
        return second[..<colon].allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// Returns the line at a place, with its end.
    static func line(_ bytes: ArraySlice<UInt8>, at start: Int) -> ArraySlice<UInt8> {
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n"))
        return bytes[start..<(end.map { $0 + 1 } ?? bytes.endIndex)]
    }

    /// Returns a line without its end.
    static func withoutEnd(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = line
        if text.last == UInt8(ascii: "\n") { text = text.dropLast() }
        if text.last == UInt8(ascii: "\r") { text = text.dropLast() }
        return text
    }

    private static let mark = Array("From ".utf8)

    /// Returns the place of the next line `From …` behind an empty line.
    private static func nextMessage(_ bytes: ArraySlice<UInt8>, after start: Int) -> Int {
        var place = line(bytes, at: start).endIndex
        var isBehindEmptyLine = false
        while place < bytes.endIndex {
            let line = line(bytes, at: place)
            if isBehindEmptyLine, line.starts(with: mark) { return place }
            isBehindEmptyLine = withoutEnd(line).isEmpty
            place = line.endIndex
        }
        return bytes.endIndex
    }

    private mutating func readMessage(_ message: ArraySlice<UInt8>) {
        let start = message.starts(with: Self.mark) ? Self.line(message, at: message.startIndex).endIndex : nil
        let bytes = message[(start ?? message.startIndex)...]
        let header = MailHeader(bytes)
        for (name, label) in [("from", "From"), ("to", "To"), ("cc", "Cc"), ("subject", "Subject"), ("date", "Date")] {
            guard let value = header.text(name) else { continue }
            if name == "subject", title.isEmpty { title = String(value.prefix(300)) }
            text += "\(label): \(value)\n".utf8
        }
        text.append(UInt8(ascii: "\n"))
        readPart(header, bytes[header.end...], depth: 0)
        text.append(UInt8(ascii: "\n"))
    }

    private mutating func readPart(_ header: MailHeader, _ body: ArraySlice<UInt8>, depth: Int) {
        guard text.count < limit else { return }
        let (type, boundary) = header.value("content-type", parameter: "boundary")
        if type.hasPrefix("multipart/") {
            if depth < Self.depthLimit, let boundary, !boundary.isEmpty {
                readParts(body, Array("--\(boundary)".utf8), depth: depth + 1)
            }
        } else if type == "message/rfc822" {
            guard depth < Self.depthLimit else { return }
            let inner = MailHeader(body)
            if let subject = inner.text("subject") { text += "Subject: \(subject)\n".utf8 }
            readPart(inner, body[inner.end...], depth: depth + 1)
        } else if type.isEmpty || type.hasPrefix("text/") {
            readText(header, body, isHTML: type == "text/html")
        }
    }

    private mutating func readParts(_ body: ArraySlice<UInt8>, _ boundary: [UInt8], depth: Int) {
        var place = body.startIndex
        var start: Int?
        while place < body.endIndex {
            let line = Self.line(body, at: place)
            place = line.endIndex
            guard line.starts(with: boundary) else { continue }
            if let start {
                let part = body[start..<line.startIndex]
                let header = MailHeader(part)
                readPart(header, part[header.end...], depth: depth)
            }
            if line.dropFirst(boundary.count).starts(with: "--".utf8) { return }
            start = place
        }
        // The file is cut, or the last mark is missing.
        guard let start else { return }
        let header = MailHeader(body[start...])
        readPart(header, body[header.end...], depth: depth)
    }

    private mutating func readText(_ header: MailHeader, _ body: ArraySlice<UInt8>, isHTML: Bool) {
        let decoded: [UInt8] =
            switch header.value("content-transfer-encoding").value {
            case "base64": TransferEncoding.base64(body)
            case "quoted-printable": TransferEncoding.quotedPrintable(body)
            default: Array(body)
            }
        let declared =
            header.value("content-type", parameter: "charset").parameter
            ?? (isHTML ? Charset.declared(in: decoded, isHTML: true) : nil)
        guard let content = TextDecoder.decode(decoded, type: .text, isTruncated: true, declared: declared) else {
            return
        }
        problem = problem ?? content.problem
        if isHTML {
            text += HTMLText(Array(content.text.utf8)[...]).text
        } else {
            text += content.text.utf8
        }
        text.append(UInt8(ascii: "\n"))
    }
}
