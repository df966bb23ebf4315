package import QoSCore

/// A recorder of the states of rows over virtual time, which it draws.
///
/// - Complexity: O(1) amortised a note, O(notes + columns) to draw. A row with an unchanged state costs no memory.
package struct TimelineRecorder: Sendable {
    private struct Segment: Sendable {
        let from: Int64
        var to: Int64
        let mark: Character
    }

    private let labels: [String]
    private var rows: [[Segment]]

    /// Makes a recorder of rows with these labels.
    package init(labels: [String]) {
        self.labels = labels
        rows = Array(repeating: [], count: labels.count)
    }

    /// Makes a recorder with a row for each class, the highest first.
    package static let ofClasses = TimelineRecorder(labels: QoSClass.descending.map(\.abbreviation))

    /// The row of a class in a recorder of classes.
    package static func row(of qosClass: QoSClass) -> Int { QoSClass.allCases.count - 1 - qosClass.rank }

    /// Records the state of a row in an interval of nanoseconds. Notes of one row come in the order of time.
    package mutating func note(row: Int, mark: Character, from: Int64, to: Int64) {
        guard mark != Timeline.nothing, to > from else { return }
        if let last = rows[row].last, last.mark == mark, last.to == from {
            rows[row][rows[row].count - 1].to = to
        } else {
            rows[row].append(Segment(from: from, to: to, mark: mark))
        }
    }

    /// Returns the rows, each sampled in the middle of each column.
    ///
    /// - Parameters:
    ///   - column: Nanoseconds; at least 2.
    ///   - columns: The number of columns; `nil` shows everything.
    package func timeline(column: Int64, columns: Int? = nil) -> Timeline {
        let column = max(2, column)
        let end = rows.compactMap { $0.last?.to }.max() ?? 0
        let count = columns ?? Int((end + column / 2) / column)
        return Timeline(
            rows: zip(labels, rows).map { label, segments in
                var marks = Array(repeating: Timeline.nothing, count: count)
                for segment in segments {
                    var index = Int((segment.from + column - 1 - column / 2) / column)
                    while index < count, Int64(index) * column + column / 2 < segment.to {
                        marks[index] = segment.mark
                        index += 1
                    }
                }
                return Timeline.Row(label: label, marks: marks)
            })
    }
}
