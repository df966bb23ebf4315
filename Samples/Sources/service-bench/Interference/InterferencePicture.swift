import Foundation

/// The medians of interference runs as two columns of bars: the p99 of the searches, and the time of the work.
struct InterferencePicture {
    private static let (left, top, row, barHeight) = (280.0, 104.0, 36.0, 20.0)
    private static let (plotWidth, gap) = (300.0, 70.0)
    /// The p99 beside our workloads over the one beside nothing that is allowed.
    private static let target = 1.2

    private let neighbours: [Neighbour]
    private let panels: [BarPanel]
    private let rate: Double
    /// The turns of each neighbour.
    private let counts: [Neighbour: Int]

    /// Takes results, in any order.
    init(_ results: [InterferenceResult]) {
        func values(_ value: (InterferenceResult) -> Double?) -> [Neighbour: [Double]] {
            Dictionary(grouping: results) { Neighbour(rawValue: $0.neighbour) ?? .none }
                .mapValues { $0.compactMap(value).sorted() }.filter { !$0.value.isEmpty }
        }
        let tails = values(\.p99)
        neighbours = Neighbour.allCases.filter { tails[$0] != nil }
        counts = tails.mapValues(\.count)
        let limit = tails[.none].map { Quantile.median($0) * Self.target }
        panels = [
            BarPanel(title: "p99 of searches", unit: "ms", values: tails, limit: limit),
            BarPanel(title: "until the work is done", unit: "s", values: values(\.seconds), limit: nil),
        ]
        rate = results.map(\.rate).max() ?? 0
    }

    /// The picture, dark on white.
    var svg: String {
        let width = Int(Self.left + Double(panels.count) * (Self.plotWidth + Self.gap))
        let height = Int(Self.top + Double(neighbours.count) * Self.row + 34)
        var parts = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
                + "viewBox=\"0 0 \(width) \(height)\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
            SVG.text(
                "Searches of a service, beside a backup, a sync and an indexing of all its files", 16, 30,
                "font-size=\"18\" font-weight=\"bold\""),
            SVG.text(
                "\(Int(rate.rounded())) searches a second at random times. Medians of \(turns); lines from the smallest to "
                    + "the largest.", 16, 52, "fill=\"#555\""),
        ]
        for (index, neighbour) in neighbours.enumerated() {
            let weight = neighbour == .ours ? "font-weight=\"bold\"" : ""
            parts.append(SVG.text(neighbour.title, 16, Self.top + Double(index) * Self.row + 15, weight))
        }
        for (number, panel) in panels.enumerated() {
            let x = Self.left + Double(number) * (Self.plotWidth + Self.gap)
            parts.append(SVG.text(panel.title, x, Self.top - 16, "font-weight=\"bold\""))
            for (index, neighbour) in neighbours.enumerated() {
                let y = Self.top + Double(index) * Self.row
                parts += panel.bar(neighbour, x, y, width: Self.plotWidth, height: Self.barHeight)
            }
            let bottom = Self.top + Double(neighbours.count) * Self.row
            parts += panel.mark(x, Self.top - 6, bottom, width: Self.plotWidth, "target: 1.2 × nothing")
        }
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    /// The number of turns, or the turns of each neighbour where they differ.
    private var turns: String {
        guard Set(counts.values).count > 1 else { return "\(counts.values.first ?? 0) turns" }
        return neighbours.map { "\(counts[$0, default: 0])" }.joined(separator: ", ")
            + " turns, in the order of the rows"
    }
}

extension Neighbour {
    /// The name in the picture.
    fileprivate var title: String {
        switch self {
        case .none: "nothing"
        case .floor: "busy loops under SCHED_IDLE"
        case .ours: "swift-qos, in the same process"
        case .swift: "the same code on Swift's executors"
        case .peers: "restic, rsync and recoll"
        case .nice: "… under nice -n 19 ionice -c 3"
        case .session: "… and in a session of their own"
        }
    }
}
