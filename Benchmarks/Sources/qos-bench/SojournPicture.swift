import BenchCore

/// B1 over many loads: sojourn time of the jobs for each executor.
enum SojournPicture {
    /// The chart; `nil` without a curve.
    static func chart(_ results: [PictureLine]) -> LineChart? {
        var curves: [String: [Double: Double]] = [:]
        for line in results {
            if let load = load(line) { curves[line.metric, default: [:]][load] = line.value }
        }
        guard !curves.isEmpty else { return nil }
        return LineChart(
            title: "Sojourn time of 300 µs jobs beside low work that uses whatever is left",
            xAxis: .init(
                label: "ρ, the share of all processors that the jobs need", end: 0.8, ticks: [0, 0.25, 0.5, 0.75]),
            panels: [
                .init(title: "median", lines: lines(curves, "p50")),
                .init(title: "99th percentile", lines: lines(curves, "p99")),
            ])
    }

    private static func lines(_ curves: [String: [Double: Double]], _ quantile: String) -> [LineChart.Line] {
        styles.compactMap { prefix, peer, name, style in
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

    /// The load of a curve's point; `nil` for other figures.
    private static func load(_ line: PictureLine) -> Double? {
        let words = line.case.split(separator: ",")
        guard words.first == "curve", words.count > 1, words[1].hasPrefix("rho=") else { return nil }
        return Double(words[1].dropFirst(4))
    }
}
