import Foundation

/// The medians of an interference run as two rows of bars: the p99 of the searches, and the time of the work.
struct InterferencePicture {
    /// The bars of one quantity, with the smallest and the largest value as a line.
    private struct Panel {
        let title: String
        let values: [Neighbour: [Double]]

        /// The right end of the axis.
        var end: Double { (values.values.flatMap { $0 }.max() ?? 1) * 1.05 }
    }

    private static let (left, top, row, barHeight) = (250.0, 74.0, 34.0, 20.0)
    private static let (plotWidth, gap) = (300.0, 90.0)

    private let neighbours: [Neighbour]
    private let panels: [Panel]
    private let rate: Double
    private let turns: Int

    /// Takes the results.
    init(_ results: [InterferenceResult]) {
        func values(_ value: (InterferenceResult) -> Double?) -> [Neighbour: [Double]] {
            Dictionary(grouping: results) { Neighbour(rawValue: $0.neighbour) ?? .none }
                .mapValues { $0.compactMap(value).sorted() }.filter { !$0.value.isEmpty }
        }
        let tails = values(\.p99)
        neighbours = Neighbour.allCases.filter { tails[$0] != nil }
        panels = [
            Panel(title: "p99 of searches, ms", values: tails),
            Panel(title: "time of the work, s", values: values(\.seconds)),
        ]
        rate = results.map(\.rate).max() ?? 0
        turns = Set(results.map(\.turn)).count
    }

    /// The picture, dark on white.
    var svg: String {
        let width = Int(Self.left + Double(panels.count) * (Self.plotWidth + Self.gap))
        let height = Int(Self.top + Double(neighbours.count) * Self.row + 20)
        var parts = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
                + "viewBox=\"0 0 \(width) \(height)\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
            Self.text(
                "Searches beside a backup, a sync and an index: \(Int(rate)) a second, medians of \(turns) turns", 16,
                26,
                "font-size=\"16\" font-weight=\"bold\""),
        ]
        for (index, neighbour) in neighbours.enumerated() {
            parts.append(Self.text(neighbour.title, 16, Self.top + Double(index) * Self.row + 15))
        }
        for (number, panel) in panels.enumerated() {
            let x = Self.left + Double(number) * (Self.plotWidth + Self.gap)
            parts.append(Self.text(panel.title, x, Self.top - 14, "font-weight=\"bold\""))
            for (index, neighbour) in neighbours.enumerated() {
                parts += bar(neighbour, panel, x, Self.top + Double(index) * Self.row)
            }
        }
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    private func bar(_ neighbour: Neighbour, _ panel: Panel, _ x: Double, _ y: Double) -> [String] {
        guard let values = panel.values[neighbour], let first = values.first, let last = values.last else {
            return [Self.text("–", x, y + 15)]
        }
        func place(_ value: Double) -> Double { value / panel.end * Self.plotWidth }
        let median = Quantile.of(values, 0.5)
        let middle = y + Self.barHeight / 2
        return [
            "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(Self.pixel(place(median)))\" height=\"\(Self.barHeight)\" "
                + "fill=\"\(neighbour.colour)\"/>",
            "<line x1=\"\(Self.pixel(x + place(first)))\" y1=\"\(middle)\" x2=\"\(Self.pixel(x + place(last)))\" "
                + "y2=\"\(middle)\" stroke=\"#222\" stroke-width=\"1.5\"/>",
            Self.text(String(format: "%.1f", median), x + place(last) + 6, y + 15),
        ]
    }

    private static func text(_ text: String, _ x: Double, _ y: Double, _ attributes: String = "") -> String {
        "<text x=\"\(pixel(x))\" y=\"\(pixel(y))\" \(attributes)>\(text)</text>"
    }

    private static func pixel(_ value: Double) -> String { String(format: "%.1f", value) }
}

extension Neighbour {
    /// The name in the picture.
    fileprivate var title: String {
        switch self {
        case .none: "nothing"
        case .ours: "our workloads"
        case .swift: "the same on Swift's executors"
        case .peers: "restic, rsync, recoll"
        case .nice: "the same, nice 19 and ionice idle"
        case .session: "the same, in their own session"
        }
    }

    fileprivate var colour: String {
        switch self {
        case .none: "#bbb"
        case .ours: "#0b4f94"
        case .swift: "#d55e00"
        case .peers, .nice, .session: "#8a7f5c"
        }
    }
}
