public import TreeScan

/// Some lines of the indexed text of a file.
public struct TextExcerpt: Sendable, Hashable {
    /// The maximum number of bytes of one line that are shown.
    static let lineLimit = 2000

    /// The path below the indexed folder.
    public let path: RelativePath
    /// The number of the first line in `lines`, from 1.
    public let first: Int
    /// The lines, each cut after 2,000 bytes. Matches of a query are marked as in ``SearchHit/snippet``.
    public let lines: [String]
    /// The numbers of the first thousand lines of the whole text in which a match of the query begins.
    public let matches: [Int]
    /// The number of lines of the text.
    public let lineCount: Int
    /// Whether the file goes on after the indexed text.
    public let isTruncated: Bool

    /// Cuts lines out of a text. O(its length).
    init(path: [UInt8], text: [UInt8], isTruncated: Bool, lines: ClosedRange<Int>, marking terms: SearchTerms?) {
        matches = terms.map { Snippet.lines(with: $0, in: text[...], limit: 1000) } ?? []
        self.path = RelativePath(bytes: path)
        self.isTruncated = isTruncated
        var number = 1
        var start = text.startIndex
        var found: [String] = []
        while true {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            if lines.contains(number) {
                let cut = text[start..<end].prefix(Self.lineLimit)
                let shown = terms.map { Snippet.marked(cut, $0) } ?? Array(cut)
                found.append(String(decoding: shown, as: UTF8.self) + (cut.endIndex < end ? "…" : ""))
            }
            // An empty piece after the last line feed is no line.
            guard end + 1 < text.endIndex else { break }
            start = end + 1
            number += 1
        }
        first = lines.lowerBound
        self.lines = found
        lineCount = number
    }
}
