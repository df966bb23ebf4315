extension Timeline {
    /// Makes the timeline of some lines of text.
    ///
    /// - Complexity: O(characters).
    /// - Throws: ``TimelineError`` that names the unreadable line and the readable forms.
    public init(_ text: String) throws(TimelineError) {
        var rows: [Row] = []
        for line in text.split(separator: "\n") {
            let line = line.drop(while: \.isWhitespace)
            if line.isEmpty || line.first == "#" { continue }
            rows.append(try Self.row(of: line))
        }
        for (index, row) in rows.enumerated() where rows[..<index].contains(where: { $0.label == row.label }) {
            throw .repeatedRow(row.label)
        }
        self.init(rows: rows)
    }

    private static func row(of line: Substring) throws(TimelineError) -> Row {
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { throw .malformedLine(String(line)) }
        let label = line[..<colon]
        var marks = line[line.index(after: colon)...].drop(while: \.isWhitespace)
        while marks.last?.isWhitespace == true { marks.removeLast() }
        guard !label.contains(where: \.isWhitespace) else { throw .malformedLine(String(line)) }
        if let mark = marks.first(where: { !$0.isMark }) { throw .unknownMark(mark) }
        return Row(label: String(label), marks: marks)
    }
}

extension Character {
    fileprivate var isMark: Bool {
        isASCII && (isLetter || isNumber) || self == Timeline.nothing || self == Timeline.waiting
    }
}

/// A text that is no timeline.
public enum TimelineError: Error, Sendable, Hashable {
    /// A line that is not a label, a colon and marks.
    case malformedLine(String)
    /// A character without a meaning.
    case unknownMark(Character)
    /// Two lines with the same label.
    case repeatedRow(String)
    /// A row of a world of jobs whose label is no class.
    case unknownClass(String)
}

extension TimelineError: CustomStringConvertible {
    /// The unreadable part, and the readable forms.
    public var description: String {
        switch self {
        case .malformedLine(let line): "'\(line)' is no row: write a label, a colon and marks, as in 'ut: aa--A'"
        case .unknownMark(let mark): "'\(mark)' is no mark: use letters, digits, '.' for waiting and '-' for nothing"
        case .repeatedRow(let label): "there are two rows '\(label)': write one line for each"
        case .unknownClass(let label):
            "'\(label)' is no class: use \(QoSClassNames.all)"
        }
    }
}
