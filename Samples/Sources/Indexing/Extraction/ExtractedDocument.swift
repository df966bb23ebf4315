/// The text of one file, ready to be indexed.
struct ExtractedDocument: Equatable {
    /// The first heading of a Markdown file, else empty.
    var title: String
    /// The text, without zero characters.
    var body: String
    /// Whether the file goes on after the text limit.
    var isTruncated: Bool

    init(body: String, type: FileType, isTruncated: Bool) {
        self.title = type == .markdown ? Self.heading(of: body) : ""
        self.body = body
        self.isTruncated = isTruncated
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
