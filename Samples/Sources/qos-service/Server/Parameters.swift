internal import Hummingbird
internal import Indexing
internal import QoSCore
internal import QoSWorkloads

/// The parameters in a request's address, as HTML forms write them: `+` is a space.
struct Parameters: Decodable {
    var q: String?
    var syntax: String?
    var sort: String?
    var limit: String?
    var offset: String?
    var wait: String?
    var id: String?
    var from: String?
    var count: String?
    var level: String?
    var because: String?
    var snapshot: String?
    var replace: String?
    var keep: String?
    var seen: String?
    var before: String?
    var changes: String?
    var after: String?
    var find: String?
    var state: String?

    /// Reads the parameters.
    ///
    /// - Throws: `ParameterError` when they do not have the form.
    init(_ request: Request, _ context: ServiceContext) throws {
        do {
            self = try request.uri.decodeQuery(context: context)
        } catch {
            throw ParameterError.malformed
        }
    }

    /// Returns the query of a search.
    ///
    /// - Throws: `ParameterError` or `SearchError`.
    func query() throws -> SearchQuery {
        guard let q else { throw ParameterError.missing("q", example: "/search?q=WORDS") }
        let name = syntax ?? SearchSyntax.words.rawValue
        guard let syntax = SearchSyntax(rawValue: name) else { throw ParameterError.unknownSyntax(name) }
        let order = sort.map { SearchOrder(rawValue: $0) } ?? .relevance
        guard let order else { throw ParameterError.unknownOrder(String((sort ?? "").prefix(40))) }
        return try SearchQuery(
            q,
            syntax: syntax,
            limit: Self.number("limit", limit) ?? 20,
            offset: Self.number("offset", offset) ?? 0,
            order: order
        )
    }

    /// Returns the requested file by its number, or nil, and the lines.
    ///
    /// - Throws: `ParameterError`.
    func excerpt() throws -> (id: Int64?, lines: ClosedRange<Int>) {
        let id = try Self.number("id", id)
        let from = try Self.number("from", from, in: 1...1_000_000_000) ?? 1
        let count = try Self.number("count", count, in: 1...1000) ?? 200
        return (id.map(Int64.init), from...(from + count - 1))
    }

    /// Returns the seconds that a search may wait for a fresh folder.
    ///
    /// - Throws: `ParameterError`.
    func patience() throws -> Duration {
        .seconds(try Self.number("wait", wait, in: 0...20) ?? 5)
    }

    /// Returns the number of items that a list shows.
    ///
    /// - Throws: `ParameterError`.
    func itemLimit(_ range: ClosedRange<Int>) throws -> Int? {
        try Self.number("limit", limit, in: range)
    }

    /// Returns the number of the item behind which a list begins.
    ///
    /// - Throws: `ParameterError`.
    func itemsAfter() throws -> WorkloadItemID? {
        guard let number = try Self.number("after", after, in: 0...Int(Int64.max)) else { return nil }
        return WorkloadItemID(rawValue: Int64(number))
    }

    /// Returns the state of the items of a list; nil for all that have not ended.
    ///
    /// - Throws: `ParameterError`.
    func itemState() throws -> WorkloadState? {
        guard let state else { return nil }
        guard let value = WorkloadState(rawValue: state) else {
            throw ParameterError.unknownState(String(state.prefix(40)))
        }
        return value
    }

    /// Returns the level of an action.
    ///
    /// - Throws: `ParameterError`.
    func itemLevel() throws -> QoSLevel? {
        guard let level else { return nil }
        guard let value = QoSLevel(level) else { throw ParameterError.unknownLevel(String(level.prefix(40))) }
        return value
    }

    /// Returns the reason of an action.
    ///
    /// - Throws: `ParameterError`.
    func itemReason() throws -> String? {
        guard let because, !because.isEmpty else { return nil }
        guard because.utf8.count <= 200 else { throw ParameterError.tooLong("because", limit: 200) }
        return because
    }

    /// Whether a restore replaces files.
    ///
    /// - Throws: `ParameterError`.
    func isReplacing() throws -> Bool {
        switch replace {
        case nil, "false": false
        case "true": true
        case let text?: throw ParameterError.notABool("replace", String(text.prefix(40)))
        }
    }

    private static func number(_ name: String, _ text: String?, in range: ClosedRange<Int>? = nil) throws -> Int? {
        guard let text else { return nil }
        guard let number = Int(text) else { throw ParameterError.notANumber(name, text) }
        if let range, !range.contains(number) { throw ParameterError.outOfRange(name, number, range) }
        return number
    }
}
