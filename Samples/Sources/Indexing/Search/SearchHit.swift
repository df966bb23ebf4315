public import TreeScan

/// One file that matches a query.
public struct SearchHit: Sendable, Hashable {
    /// Marks the beginning of a matching word in a snippet. The text itself has other brackets in its place.
    public static let markStart = "\u{27E6}"
    /// Marks the end of a matching word in a snippet. The text itself has other brackets in its place.
    public static let markEnd = "\u{27E7}"

    /// The number of the file in this index, valid until the index is made anew.
    public let id: Int64
    /// The path below the indexed folder.
    public let file: RelativePath
    /// The time of the last change, in nanoseconds since 1970.
    public let modified: Int64
    /// The length of the file in bytes.
    public let size: Int64
    /// The quality of the match. More is better, comparable within one answer only (bm25, negated). 0 when not ranked.
    public let score: Double
    /// Some words around the matches. The matches are between `markStart` and `markEnd`.
    public let snippet: String
    /// The number of the line with the first match of the snippet, from 1.
    public let line: Int

    /// The path below the indexed folder. Bytes that are not UTF-8 are replaced by U+FFFD.
    public var path: String { file.description }
    /// The path for people. Bytes that are not UTF-8 appear as `\xFF`. Characters that are invisible or turn the
    /// direction of writing appear as `\u{202E}`.
    public var display: String { file.display }
}
