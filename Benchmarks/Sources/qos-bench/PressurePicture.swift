import BenchCore

/// B18 over time: what requests and background work get while another service takes the processors, and after.
enum PressurePicture {
    /// The chart; `nil` without results of B18.
    static func chart(_ results: [PictureLine]) -> LineChart? {
        var figures: [String: Double] = [:]
        for line in results where line.benchmark == "B18" { figures[line.metric] = line.value }
        guard !figures.isEmpty else { return nil }
        let times = PressureTimes(length: figures["run_s[\(PeerKind.ours.rawValue)]"] ?? 60)
        let ticks = stride(from: 0, through: times.length, by: times.length / 6).map { $0 }
        return LineChart(
            title: "Requests at userInitiated beside background work, and another service",
            xAxis: .init(
                label: "seconds", end: times.length, ticks: ticks, band: (times.load, "stress-ng runs")),
            panels: [
                .init(title: "99th percentile of the requests", lines: lines(figures, "request_p99_us", times)),
                .init(
                    title: "processors that background work uses", yAxis: .linear(end: 2),
                    lines: lines(figures, "low_cores", times)),
            ])
    }

    private static func lines(_ figures: [String: Double], _ key: String, _ times: PressureTimes) -> [LineChart.Line] {
        styles.compactMap { prefix, peer, name, style in
            let points = (0..<PressureTimes.spanCount).compactMap { span in
                figures["\(prefix)_\(PressureTimes.key(key, span: span))[\(peer.rawValue)]"].map {
                    (x: (Double(span) + 0.5) * times.span, y: $0)
                }
            }
            return points.isEmpty ? nil : LineChart.Line(name: name, style: style, points: points)
        }
    }

    /// Names and colours, as in the other picture; ours come last, over the others.
    private static let styles: [(prefix: String, peer: PeerKind, name: String, style: LineChart.Style)] = [
        ("free", .defaultExecutor, "Swift's default executor", .init("#d55e00")),
        ("free", .ours, "swift-qos, no monitor", .init("#3d9ad6", width: 2.5)),
        ("governed", .ours, "swift-qos, with a monitor", .init("#0b4f94", width: 3)),
    ]
}
