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
            title = Self.text(page.title).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            body = Self.text(page.text)
        case .json: (title, body) = ("", Self.text(JSONText.read(Array(text.utf8)[...])))
        case .csv: (title, body) = ("", Self.text(CSVText.read(Array(text.utf8)[...])))
        case .markdown: (title, body) = (Self.heading(of: text), text)
        case .text, .binary, .unknown, .mail, .pdf: (title, body) = ("", text)
        }
    }

    /// Takes the output of a converter.
    init(converted bytes: [UInt8], isTruncated: Bool) {
        title = ""
        body = Self.text(bytes)
        self.isTruncated = isTruncated
    }

    /// Returns bytes as text. A zero would end it early in the database.
    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.contains(0) ? bytes.map { $0 == 0 ? UInt8(ascii: " ") : $0 } : bytes, as: UTF8.self)
    }

    /// Returns the text of the first `# ` line among the first hundred lines.
    private static func heading(of text: String) -> String {
        for line in text.split(separator: "\n", maxSplits: 100, omittingEmptySubsequences: true).prefix(100)
        where line.hasPrefix("# ") {
            return String(line.dropFirst(2).prefix(300))
        }
        return ""
    }
}
