internal import QoSCore

extension Timeline {
    /// Returns the difference from an expected timeline as readable text; `nil` if there is none.
    ///
    /// ```swift
    /// #expect(scheduler.timeline().difference(from: """
    ///     ui: --aa
    ///     bg: bb..bb
    ///     """) == nil)
    /// ```
    ///
    /// Only the rows that are expected are compared. Below each row that differs stand the expected one and a caret
    /// under each column that differs.
    ///
    /// - Parameter expected: a timeline as text.
    /// - Throws: ``TimelineError`` when the expected text is no timeline.
    public func difference(from expected: String) throws(TimelineError) -> String? {
        difference(from: try Timeline(expected))
    }

    /// Returns the difference from an expected timeline; see ``difference(from:)-(String)``.
    public func difference(from expected: Timeline) -> String? {
        let own = rows(like: expected)
        guard own != expected else { return nil }
        let columns = max(own.columns, expected.columns)
        let width = max(8, expected.rows.map(\.label.count).max() ?? 0)
        func line(_ label: String, _ text: (Int) -> Character) -> String {
            let gap = String(repeating: " ", count: width - label.count)
            return label + gap + " " + String((0..<columns).map(text))
        }
        var lines: [String] = []
        for (row, wanted) in zip(own.rows, expected.rows) {
            lines.append(line(row.label) { row[$0] })
            if row == wanted { continue }
            lines.append(line("expected") { wanted[$0] })
            lines.append(line("") { row[$0] == wanted[$0] ? " " : "^" })
        }
        return lines.map { String($0.reversed().drop { $0 == " " }.reversed()) }.joined(separator: "\n")
    }

    /// Throws if a row differs from the expected one. Only the expected rows are compared.
    ///
    /// - Throws: ``TimelineMismatch`` with the readable difference, or ``TimelineError`` when the expected text is no
    ///   timeline.
    public func require(_ expected: String) throws {
        if let difference = try difference(from: expected) { throw TimelineMismatch(difference: difference) }
    }
}

/// A timeline that differs from the expected one.
public struct TimelineMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    /// The actual and the expected rows.
    public let difference: String

    /// The difference, on lines of its own.
    public var description: String { "the timeline is not as expected:\n\(difference)" }
}

/// The names of the classes for messages.
enum QoSClassNames {
    static let all = QoSClass.descending.map { "\($0) (\($0.abbreviation))" }.joined(separator: ", ")
}
