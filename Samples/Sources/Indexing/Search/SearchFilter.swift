internal import Foundation
internal import GRDB
public import TreeScan

/// The files that a search is about: conditions on the path, the extension and the time of the last change.
///
/// A query has them as words (``QueryWords``): `path:"my docs"`, `ext:md`, `modified:2026-01-01..2026-01-31`.
public struct SearchFilter: Sendable, Hashable {
    /// One condition.
    enum Test: Sendable, Hashable {
        /// The path below the indexed folder contains this text, without regard to capitals and accents.
        case path(String)
        /// The name ends with this extension, in lower case and without a dot.
        case ending(String)
        /// The time of the last change, in nanoseconds since 1970. Nil is no bound.
        case modified(from: Int64?, before: Int64?)
    }

    /// Conditions of which one must hold, or of which none may.
    struct Choice: Sendable, Hashable {
        var tests: [Test]
        var isExcluded: Bool
    }

    /// The conditions. All choices must hold.
    private(set) var choices: [Choice] = []
    /// Folders below the indexed one whose files do not count.
    public var excludedFolders: Set<RelativePath> = []

    /// A filter that lets every file pass.
    public init() {}

    /// Whether no condition is set.
    public var isEmpty: Bool { choices.isEmpty && excludedFolders.isEmpty }

    /// Adds a choice. A file has one extension, so several choices of extensions are one.
    mutating func add(_ choice: Choice) {
        let isEnding: (Choice) -> Bool = { other in
            !other.isExcluded && other.tests.allSatisfy { if case .ending = $0 { true } else { false } }
        }
        if isEnding(choice), let index = choices.firstIndex(where: isEnding) {
            choices[index].tests += choice.tests
        } else {
            choices.append(choice)
        }
    }

    // MARK: Reading

    /// The names of the filters, before a colon.
    static let names = ["path", "ext", "modified"]

    /// Reads a filter.
    ///
    /// - Parameters:
    ///   - name: One of ``names``.
    ///   - value: The text behind the colon, without quotes.
    ///   - now: The time, in nanoseconds since 1970.
    ///   - zone: The time zone whose days count.
    /// - Throws: `SearchError.badFilter`, which says what is wrong.
    static func tests(
        _ name: String, _ value: String, now: Int64, zone: TimeZone
    ) throws(SearchError) -> [Test] {
        let word = "\(name):\(value)"
        guard !value.isEmpty else { throw .badFilter(word, "nothing stands behind the colon") }
        switch name {
        case "path": return [.path(value)]
        case "ext":
            let list = value.split(separator: ",", omittingEmptySubsequences: false).map {
                $0.drop { $0 == "." }.lowercased()
            }
            guard list.allSatisfy({ !$0.isEmpty }) else { throw .badFilter(word, "an extension is missing") }
            return list.map { .ending($0) }
        default: return [try times(value, word, now: now, zone: zone)]
        }
    }

    /// Reads `2026-01-31`, `2026-01`, `2026`, `today`, `yesterday`, two of them with `..` between, or `7d`.
    private static func times(
        _ text: String, _ word: String, now: Int64, zone: TimeZone
    ) throws(SearchError) -> Test {
        if text.hasSuffix("d"), let days = Int64(text.dropLast()) {
            guard (1...36_500).contains(days) else { throw .badFilter(word, "the days are 1 to 36500") }
            return .modified(
                from: now.subtractingReportingOverflow(days * 86_400_000_000_000).partialValue, before: nil)
        }
        func period(_ text: String) throws(SearchError) -> (from: Int64, before: Int64) {
            guard let period = self.period(text, now: now, zone: zone) else {
                throw .badFilter(word, "\"\(text)\" is no day of the calendar")
            }
            return period
        }
        guard let dots = text.range(of: "..") else {
            let one = try period(text)
            return .modified(from: one.from, before: one.before)
        }
        let (first, last) = (String(text[..<dots.lowerBound]), String(text[dots.upperBound...]))
        guard !first.isEmpty || !last.isEmpty else { throw .badFilter(word, "both ends are missing") }
        let from = first.isEmpty ? nil : try period(first).from
        let before = last.isEmpty ? nil : try period(last).before
        if let from, let before, from >= before { throw .badFilter(word, "the end is before the beginning") }
        return .modified(from: from, before: before)
    }

    /// Returns the beginning of a day, month or year and that of the next one, in nanoseconds since 1970.
    private static func period(_ text: String, now: Int64, zone: TimeZone) -> (from: Int64, before: Int64)? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let beginning: Date?
        let unit: Calendar.Component
        switch text.lowercased() {
        case "today": (beginning, unit) = (calendar.startOfDay(for: Date(nanoseconds: now)), .day)
        case "yesterday":
            let before = calendar.date(byAdding: .day, value: -1, to: Date(nanoseconds: now))
            (beginning, unit) = (before.map { calendar.startOfDay(for: $0) }, .day)
        default:
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { part in part.allSatisfy { ("0"..."9").contains($0) } ? Int(part) : nil }
            guard numbers.count == parts.count, (1...3).contains(parts.count), parts[0].count == 4,
                parts.dropFirst().allSatisfy({ $0.count == 2 })
            else { return nil }
            let day = DateComponents(
                year: numbers[0], month: parts.count > 1 ? numbers[1] : 1, day: parts.count > 2 ? numbers[2] : 1)
            guard (1600...2262).contains(numbers[0]), day.isValidDate(in: calendar) else { return nil }
            unit = [.year, .month, .day][parts.count - 1]
            beginning = calendar.date(from: day).map { calendar.startOfDay(for: $0) }
        }
        guard let beginning, let next = calendar.date(byAdding: unit, value: 1, to: beginning) else { return nil }
        return (beginning.nanoseconds, next.nanoseconds)
    }

    // MARK: The database

    /// The condition on the row `known` of the table `file`; nil if every file passes.
    var condition: String? {
        var parts = choices.map { choice in
            "\(choice.isExcluded ? "NOT " : "")(" + choice.tests.map(Self.condition).joined(separator: " OR ") + ")"
        }
        parts += excludedFolders.compactMap(\.subtree).map { _ in "NOT (known.path >= ? AND known.path < ?)" }
        return parts.isEmpty ? nil : parts.joined(separator: " AND ")
    }

    /// The arguments of the condition.
    var arguments: StatementArguments {
        var arguments = StatementArguments()
        for test in choices.flatMap(\.tests) { arguments += Self.arguments(test) }
        for (lower, upper) in excludedFolders.compactMap(\.subtree) { arguments += [Data(lower), Data(upper)] }
        return arguments
    }

    private static func condition(_ test: Test) -> String {
        switch test {
        case .path(let text):
            WordText.isASCII(Array(text.utf8))
                ? "instr(lower(CAST(known.path AS TEXT)), lower(?)) > 0" : "instr(folded(known.path), ?) > 0"
        case .ending: "substr(lower(CAST(known.path AS TEXT)), -length(?)) = ?"
        case .modified(let from, let before):
            [from.map { _ in "known.modified >= ?" }, before.map { _ in "known.modified < ?" }].compactMap(\.self)
                .joined(separator: " AND ")
        }
    }

    private static func arguments(_ test: Test) -> StatementArguments {
        switch test {
        case .path(let text):
            let bytes = Array(text.utf8)
            return [WordText.isASCII(bytes) ? text : String(decoding: WordText.folded(bytes), as: UTF8.self)]
        case .ending(let name): return ["." + name, "." + name]
        case .modified(let from, let before): return StatementArguments([from, before].compactMap(\.self))
        }
    }
}

extension Date {
    fileprivate init(nanoseconds: Int64) { self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9) }

    /// Whole seconds, in nanoseconds since 1970, within the range of the type.
    fileprivate var nanoseconds: Int64 {
        let seconds = timeIntervalSince1970.rounded(.down)
        guard abs(seconds) < 9.2e9 else { return seconds < 0 ? .min : .max }
        return Int64(seconds) * 1_000_000_000
    }
}
