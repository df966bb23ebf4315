import Foundation
import Glibc

/// Medians over the turns, as tables, and what they say about the targets.
struct CostTable {
    /// What each figure of a row is.
    private struct Cell: Hashable {
        let corpus: String
        let program: String
        let run: CostRecord.Run
    }

    private let records: [CostRecord]
    private let cells: [Cell: [CostRecord]]

    init(_ records: [CostRecord]) {
        self.records = records
        cells = Dictionary(grouping: records) { Cell(corpus: $0.corpus, program: $0.program, run: $0.run) }
    }

    /// Prints a row for each corpus, run and program.
    ///
    /// - Parameter stored: The heading of the column of bytes that stay, or go through a connection.
    func show(_ stored: String) {
        print("\n| corpus | run | program | s | processor s | memory MB | read MB | written MB | \(stored) |")
        print("|---|---|---|---|---|---|---|---|---|")
        var seen: Set<Cell> = []
        for record in records.sorted(by: { $0.place < $1.place }) {
            let cell = Cell(corpus: record.corpus, program: record.program, run: record.run)
            guard seen.insert(cell).inserted, let own = cells[cell] else { continue }
            let bytes = [\CostRecord.memory, \.read, \.written].map { path in
                Quantile.spread(own.map { Double($0[keyPath: path]) / 1e6 })
            }
            let kept = own.compactMap(\.stored).map { Double($0) / 1e6 }
            let texts = [own.map(\.wall), own.map(\.cpu)].map(Quantile.spread) + bytes
            let last = kept.isEmpty ? "–" : Quantile.spread(kept)
            let row = [record.corpus, record.run.rawValue, record.program] + texts + [last]
            print("| \(row.joined(separator: " | ")) |")
        }
        fflush(nil)
    }

    /// Prints whether a median of ours is at most `limit` times the smallest one of others.
    func judge(
        _ name: String, _ run: CostRecord.Run, _ figure: (CostRecord) -> Double?, limit: Double, ours: String,
        others: [String]
    ) {
        for corpus in Set(records.filter { $0.program == ours }.map(\.corpus)).sorted() {
            func median(_ program: String) -> Double? {
                let values = (cells[Cell(corpus: corpus, program: program, run: run)] ?? []).compactMap(figure)
                return values.isEmpty ? nil : Quantile.median(values.sorted())
            }
            let best = others.compactMap { program in median(program).map { (program, $0) } }.min { $0.1 < $1.1 }
            guard let own = median(ours), let best else { continue }
            Self.say("\(name), \(corpus)", own / best.1, limit: limit, unit: " × \(best.0)")
        }
    }

    /// Prints a figure beside its target, the largest value that meets it.
    static func say(_ name: String, _ value: Double, limit: Double, unit: String) {
        let verdict = value <= limit ? "met" : "missed"
        func text(_ value: Double) -> String { String(format: "%.2f", value) }
        print("- \(name): \(verdict), \(text(value))\(unit); at most \(text(limit))")
    }
}

extension CostRecord {
    fileprivate var place: String {
        "\(corpus) \(Run.allCases.firstIndex(of: run) ?? 0) \(program)"
    }
}
