internal import Indexing
internal import TreeScan

/// The answer of `/file`. Keys are written in snake case.
struct FileResponse: Encodable {
    let path: String
    let display: String
    /// The number of the first line, from 1.
    let first: Int
    let lines: [String]
    let lineCount: Int
    let truncated: Bool
    /// The lines of the whole text in which a match of the query begins.
    let matches: [Int]

    init(_ excerpt: TextExcerpt) {
        path = excerpt.path.description
        display = excerpt.path.display
        first = excerpt.first
        lines = excerpt.lines
        lineCount = excerpt.lineCount
        truncated = excerpt.isTruncated
        matches = excerpt.matches
    }
}
