import Foundation

/// The tables of `Docs/Semantics.md`, as they stand there.
struct SemanticsPage {
    /// The page's facts about one rule.
    struct Row {
        let rule: String
        let meaning: String
        let paths: [String]
        let tests: [String]
    }

    /// One line of the list of what is missing.
    struct Gap {
        let rule: String
        let extent: String
        let what: String
    }

    /// Why a page cannot be read.
    struct Malformed: Error {
        let line: String
        let reason: String
    }

    /// The heading above the list of what is missing.
    static let gapHeading = "## Not built yet"

    private(set) var rows: [Row] = []
    private(set) var gaps: [Gap] = []

    /// Reads the page's text; each line of a table counts, each other line is passed over.
    init(_ text: String) throws(Malformed) {
        var isGap = false
        for line in text.split(separator: "\n").map(String.init) {
            if line.hasPrefix("#") { isGap = line == Self.gapHeading }
            guard line.hasPrefix("|") else { continue }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard let first = cells.first, first != "rule", !first.hasPrefix("---") else { continue }
            guard cells.count == (isGap ? 3 : 4) else {
                throw Malformed(line: line, reason: "\(cells.count) cells")
            }
            if isGap {
                gaps.append(Gap(rule: first, extent: cells[1], what: cells[2]))
            } else {
                rows.append(
                    Row(
                        rule: first, meaning: cells[1],
                        paths: try Self.quoted(cells[2], of: line), tests: try Self.quoted(cells[3], of: line)))
            }
        }
    }

    /// Returns the texts between pairs of backticks.
    private static func quoted(_ cell: String, of line: String) throws(Malformed) -> [String] {
        let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
        guard parts.count % 2 == 1 else { throw Malformed(line: line, reason: "a backtick without its pair") }
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }
}
