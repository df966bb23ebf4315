internal import Foundation
internal import GRDB

/// The files that a search is about, by path, extension and time of the last change.
///
/// A query has them as words: `path:docs/api`, `ext:md`, `modified:2026-01-01..2026-01-31`. Days are days in UTC.
public struct SearchFilter: Sendable, Hashable {
    /// Texts that the path below the indexed folder contains, without regard to ASCII capitals.
    public private(set) var paths: [String] = []
    /// The possible extensions, in lower case, without a dot. Empty for all.
    public private(set) var extensions: [String] = []
    /// The time of the last change from which on a file counts, in nanoseconds since 1970.
    public private(set) var modifiedFrom: Int64?
    /// The time of the last change before which a file counts, in nanoseconds since 1970.
    public private(set) var modifiedBefore: Int64?

    /// A filter that lets every file pass.
    public init() {}

    private static let day: Int64 = 86_400_000_000_000
    private static let names = ["path:", "ext:", "modified:"]

    /// Takes the filters out of a query in plain words. Returns the other words.
    ///
    /// - Throws: `SearchError.badFilter`.
    static func take(
        from text: String, now: Int64 = IndexSettings.systemTime()
    ) throws(SearchError) -> (SearchFilter, String) {
        var filter = SearchFilter()
        var rest: [Substring.UnicodeScalarView] = []
        for word in text.unicodeScalars.split(whereSeparator: \.properties.isWhitespace) {
            let string = String(word)
            guard let name = names.first(where: { string.hasPrefix($0) }) else {
                rest.append(word)
                continue
            }
            let value = String(string.dropFirst(name.count))
            guard !value.isEmpty else { throw .badFilter(string) }
            switch name {
            case "path:": filter.paths.append(value)
            case "ext:":
                let list = value.split(separator: ",").map { $0.drop { $0 == "." }.lowercased() }
                guard !list.isEmpty, list.allSatisfy({ !$0.isEmpty }) else { throw .badFilter(string) }
                filter.extensions += list
            default:
                guard let range = range(value, now: now) else { throw .badFilter(string) }
                filter.modifiedFrom = [filter.modifiedFrom, range.from].compactMap(\.self).max()
                filter.modifiedBefore = [filter.modifiedBefore, range.before].compactMap(\.self).min()
            }
        }
        return (filter, rest.map { String($0) }.joined(separator: " "))
    }

    /// Reads `2026-01-31`, `2026-01-01..2026-01-31`, one of both with an open end, or `7d`.
    private static func range(_ text: String, now: Int64) -> (from: Int64?, before: Int64?)? {
        if text.hasSuffix("d"), let days = Int64(text.dropLast()), (1...36_500).contains(days) {
            return (now - days * day, nil)
        }
        guard let dots = text.range(of: "..") else {
            return date(text).map { ($0, $0 + day) }
        }
        let (first, last) = (String(text[..<dots.lowerBound]), String(text[dots.upperBound...]))
        guard !first.isEmpty || !last.isEmpty else { return nil }
        let (from, end) = (date(first), date(last))
        guard first.isEmpty || from != nil, last.isEmpty || end != nil else { return nil }
        return (from, end.map { $0 + day })
    }

    /// Returns the beginning of a day, in nanoseconds since 1970.
    private static func date(_ text: String) -> Int64? {
        guard text.utf8.count == 10, let date = try? Date(text, strategy: .iso8601.year().month().day()) else {
            return nil
        }
        let seconds = date.timeIntervalSince1970
        guard abs(seconds) < 9e9 else { return nil }
        return Int64(seconds) * 1_000_000_000
    }

    /// The condition on the row `known` of the table `file`; nil if every file passes.
    var condition: String? {
        var parts = paths.map { _ in "instr(lower(CAST(known.path AS TEXT)), lower(?)) > 0" }
        if !extensions.isEmpty {
            let each = extensions.map { _ in "substr(lower(CAST(known.path AS TEXT)), -length(?)) = ?" }
            parts.append("(" + each.joined(separator: " OR ") + ")")
        }
        if modifiedFrom != nil { parts.append("known.modified >= ?") }
        if modifiedBefore != nil { parts.append("known.modified < ?") }
        return parts.isEmpty ? nil : parts.joined(separator: " AND ")
    }

    /// The arguments of the condition.
    var arguments: StatementArguments {
        var arguments = StatementArguments(paths)
        for name in extensions { arguments += ["." + name, "." + name] }
        if let modifiedFrom { arguments += [modifiedFrom] }
        if let modifiedBefore { arguments += [modifiedBefore] }
        return arguments
    }
}
