public import QoSCore

/// A schedule as text: one line for each class or core, one character for each column of time.
///
/// ```text
/// ui: --aa----
/// bg: bb..bb--
/// ```
///
/// A character shows the row in the middle of the column. A letter is the job with that label. A digit is the number of
/// running jobs. `.` is work that waits for a core. `-` is nothing.
///
/// The row's label stands before the colon. `utility:` and its abbreviation `ut:` name the same row. Rows may be
/// indented. The parser skips empty lines and lines that begin with `#`.
///
/// Two timelines are equal when they have the same rows in the same order; dashes at the end of a row mean nothing.
public struct Timeline: Sendable, Hashable {
    /// One line.
    public struct Row: Sendable, Hashable {
        /// The text before the colon. A class has its abbreviation here.
        public let label: String

        /// One character for each column, without dashes at the end.
        public let marks: [Character]

        /// Makes a row.
        public init(label: String, marks: some Sequence<Character>) {
            self.label = QoSClass(label)?.abbreviation ?? label
            var marks = Array(marks)
            while marks.last == Timeline.nothing { marks.removeLast() }
            self.marks = marks
        }

        /// The class of the row; `nil` for a row of something else.
        public var qosClass: QoSClass? {
            QoSClass.allCases.first { $0.abbreviation == label }
        }

        /// The character of a column, counted from 0; `-` behind the end.
        public subscript(column: Int) -> Character {
            marks.indices.contains(column) ? marks[column] : Timeline.nothing
        }
    }

    /// The mark of a row without work.
    public static let nothing: Character = "-"

    /// The mark of a row with work and without a core.
    public static let waiting: Character = "."

    /// The mark of a number of jobs: a digit, and `9` for more.
    package static func digit(_ count: Int) -> Character { Character(String(min(max(count, 0), 9))) }

    /// The rows, from the first line to the last.
    public let rows: [Row]

    /// Makes a timeline of rows.
    public init(rows: [Row]) {
        self.rows = rows
    }

    /// The number of columns of the longest row.
    public var columns: Int { rows.map(\.marks.count).max() ?? 0 }

    /// The row with a label; `nil` when there is none.
    public subscript(label: String) -> Row? {
        let wanted = Row(label: label, marks: []).label
        return rows.first { $0.label == wanted }
    }

    /// The row of a class; `nil` when there is none.
    public subscript(qosClass: QoSClass) -> Row? { self[qosClass.abbreviation] }

    /// Returns the rows with the labels of another timeline, in its order. A missing row is one of dashes.
    public func rows(like other: Timeline) -> Timeline {
        Timeline(rows: other.rows.map { row in self[row.label] ?? Row(label: row.label, marks: []) })
    }
}

extension Timeline: CustomStringConvertible {
    /// The rows as lines, aligned, filled with dashes to the same length.
    public var description: String {
        let width = rows.map(\.label.count).max() ?? 0
        return rows.map { row in
            let gap = String(repeating: " ", count: width - row.label.count + 1)
            return row.label + ":" + gap + String((0..<columns).map { row[$0] })
        }.joined(separator: "\n")
    }
}
