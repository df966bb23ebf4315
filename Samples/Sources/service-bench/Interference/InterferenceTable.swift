import Foundation

/// The results of interference runs as tables of Markdown.
struct InterferenceTable {
    static let heading = """
        | turn | beside | searches | p50 ms | p99 ms | p99.9 ms | work s | backup, sync, indexing s |
        |---|---|---|---|---|---|---|---|
        """

    private let results: [InterferenceResult]

    /// Takes results, in any order.
    init(_ results: [InterferenceResult]) {
        self.results = results
    }

    /// Returns a row of one result.
    static func row(_ result: InterferenceResult) -> String {
        func text(_ value: Double?, _ digits: Int) -> String {
            value.map { String(format: "%.\(digits)f", $0) } ?? "–"
        }
        let tails = [result.p50, result.p99, result.p999].map { text($0, 2) }
        let parts = WorkPart.allCases.map { text(result.parts?[$0.rawValue], 1) }.joined(separator: ", ")
        let cells = ["\(result.turn + 1)", result.neighbour, "\(result.searches)"] + tails
        return "| \((cells + [text(result.seconds, 1), parts]).joined(separator: " | ")) |"
    }

    /// A row for each neighbour: its turns, and medians with the smallest and the largest value. A ratio is that of a
    /// turn's p99 and the one without work in the same turn.
    var medians: String {
        let rest = Dictionary(
            results.filter { $0.neighbour == Neighbour.none.rawValue }.map { ($0.turn, $0.p99) },
            uniquingKeysWith: { $1 })
        var lines = [
            "| beside | turns | p50 ms | p99 ms | p99.9 ms | p99 over nothing | work s | backup s | sync s | indexing s |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        for neighbour in Neighbour.allCases {
            let own = results.filter { $0.neighbour == neighbour.rawValue }
            guard !own.isEmpty else { continue }
            let ratios = own.compactMap { result in rest[result.turn].map { result.p99 / $0 } }
            let parts = WorkPart.allCases.map { part in own.compactMap { $0.parts?[part.rawValue] } }
            let columns = [own.map(\.p50), own.map(\.p99), own.map(\.p999), ratios, own.compactMap(\.seconds)] + parts
            let texts = columns.map { $0.isEmpty ? "–" : Quantile.spread($0) }
            lines.append("| \(neighbour.rawValue) | \(own.count) | \(texts.joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n")
    }
}
