/// The text of one file, ready to be indexed.
struct ExtractedDocument: Equatable {
    /// The first heading of a Markdown file, the title of a page, the subject of a message, else empty.
    var title: String
    /// The text, without zero characters.
    var body: String
    /// Whether the file goes on after the text limit.
    var isTruncated: Bool
    /// What could not be decoded, for people; nil if all was.
    var problem: String?

    /// The document of a file without text: its name alone.
    init() {
        title = ""
        body = ""
        isTruncated = false
    }

    /// Takes the text out of the content of a file; nil if it is binary. O(n).
    ///
    /// - Parameters:
    ///   - bytes: The content, or its first part.
    ///   - type: The type by name.
    ///   - isTruncated: Whether the content goes on.
    ///   - limit: The maximum length of the text, in bytes.
    init?(_ bytes: [UInt8], type: FileType, isTruncated: Bool, limit: Int) {
        self.isTruncated = isTruncated
        if type == .mail || (type == .unknown && MailText.isMailbox(bytes[...])) {
            guard !bytes.prefix(TextDecoder.sniffLength).contains(0) else { return nil }
            let mail = MailText(bytes[...], limit: limit)
            (title, body, problem) = (mail.title, Self.text(mail.text), mail.problem)
            return
        }
        let declared = Charset.declared(in: bytes, isHTML: type == .html)
        guard let decoded = TextDecoder.decode(bytes, type: type, isTruncated: isTruncated, declared: declared) else {
            return nil
        }
        let text = decoded.text
        problem = decoded.problem
        switch type {
        case .html:
            let page = HTMLText(Array(text.utf8)[...])
            title = Self.line(page.title)
            body = Self.text(page.text)
        case .json: (title, body) = ("", Self.text(JSONText.read(Array(text.utf8)[...])))
        case .csv: (title, body) = ("", Self.text(CSVText.read(Array(text.utf8)[...])))
        case .markdown: (title, body) = (Self.heading(of: text), text)
        case .text, .binary, .unknown, .mail, .pdf, .openXML, .openDocument, .book, .compressed:
            (title, body) = ("", text)
        }
    }

    /// Takes the output of a converter; nil if it is no text, as of an encrypted document.
    init?(converted bytes: [UInt8], type: FileType, isTruncated: Bool, limit: Int) {
        self.isTruncated = isTruncated
        let isArchive = [FileType.openXML, .openDocument, .book].contains(type)
        // The parts of a document are in UTF-8. A limit may have cut the last character.
        let whole = isTruncated ? bytes.prefix(bytes.count - min(4, bytes.count)) : bytes[...]
        if isArchive, bytes.contains(0) || !Self.isUTF8(whole) { return nil }
        switch type {
        case .openXML, .openDocument:
            let office = OfficeText(bytes[...], isOpenDocument: type == .openDocument, limit: limit)
            (title, body) = (Self.line(office.title), Self.text(office.text))
            if office.isCut { self.isTruncated = true }
        case .book:
            let pages = HTMLText(bytes[...], isXML: true)
            title = Self.line(pages.title)
            body = Self.text(Array(pages.text.prefix(limit)))
            if pages.text.count > limit { self.isTruncated = true }
        default: (title, body) = ("", Self.text(bytes))
        }
    }

    /// Whether bytes are UTF-8, but for a character that is cut at the end.
    private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        (0...3).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
    }

    private static func line(_ bytes: [UInt8]) -> String {
        text(bytes).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns bytes as text. A zero would end it early in the database.
    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.contains(0) ? bytes.map { $0 == 0 ? UInt8(ascii: " ") : $0 } : bytes, as: UTF8.self)
    }

    /// Returns the text of the first `# ` line among the first hundred lines.
    private static func heading(of text: String) -> String {
        // "\r\n" is one character.
        for line in text.split(maxSplits: 100, whereSeparator: \.isNewline).prefix(100)
        where line.hasPrefix("# ") {
            return String(line.dropFirst(2).prefix(300))
        }
        return ""
    }
}
