import ArgumentParser
import BenchCore
import FoundationEssentials

/// Draws sojourn time over load.
struct PictureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture", abstract: "Draws sojourn time over load from what 'B1 --curve --json' has printed.")

    @Argument(help: "Files with the lines of JSON; of a figure that is there more than once the last one counts.")
    var files: [String]

    @Option(help: "Where the picture goes.")
    var output = "Docs/Pictures/sojourn-over-load.svg"

    func run() throws {
        var curves: [String: [Double: Double]] = [:]
        for file in files {
            let text = try String(contentsOfFile: file, encoding: .utf8)
            for line in text.split(separator: "\n") {
                guard let point = try? JSONDecoder().decode(Point.self, from: Data(line.utf8)), let load = point.load
                else { continue }
                curves[point.metric, default: [:]][load] = point.value
            }
        }
        guard !curves.isEmpty else {
            throw ValidationError(
                "there are no curves in \(files.joined(separator: ", ")): run 'B1 --curve --json' first")
        }
        let chart = LineChart(
            title: "Sojourn time of 300 µs jobs beside low work that uses whatever is left",
            xLabel: "ρ, the share of all processors that the jobs need",
            panels: [
                .init(title: "median", lines: lines(curves, "p50")),
                .init(title: "99th percentile", lines: lines(curves, "p99")),
            ])
        let target = URL(filePath: output)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(chart.svg.utf8).write(to: target)
        print("wrote \(output)")
    }

    private func lines(_ curves: [String: [Double: Double]], _ quantile: String) -> [LineChart.Line] {
        Self.styles.compactMap { prefix, peer, name, style in
            guard let curve = curves["\(prefix)sojourn_\(quantile)_us[\(peer.rawValue)]"] else { return nil }
            return LineChart.Line(
                name: name, style: style, points: curve.sorted { $0.key < $1.key }.map { (x: $0.key, y: $0.value) })
        }
    }

    /// Names and colours, which the colour-blind can tell apart (Okabe and Ito 2008); ours come last, over the others.
    private static let styles: [(prefix: String, peer: PeerKind, name: String, style: LineChart.Style)] = [
        ("", .java, "Java, fixed pool", .init("#7a5195")),
        ("", .go, "Go", .init("#8c6d1f")),
        ("", .tokio, "tokio", .init("#009e73")),
        ("", .tokioNiced, "tokio, low runtime nice 19", .init("#009e73", isDashed: true)),
        ("", .nio, "NIOThreadPool", .init("#b8548f")),
        ("", .defaultExecutor, "Swift's default executor", .init("#d55e00")),
        ("alone_", .ours, "swift-qos, no low work", .init("#444444", width: 1.5, isDashed: true)),
        ("", .oursByPreference, "swift-qos, preference", .init("#3d9ad6", width: 2.5)),
        ("", .ours, "swift-qos", .init("#0b4f94", width: 3)),
    ]

    /// A line of results, as far as it is needed.
    private struct Point: Decodable {
        let `case`: String
        let metric: String
        let value: Double

        /// The load of a curve's point; `nil` for other figures.
        var load: Double? {
            let words = self.case.split(separator: ",")
            guard words.first == "curve", words.count > 1, words[1].hasPrefix("rho=") else { return nil }
            return Double(words[1].dropFirst(4))
        }
    }
}
