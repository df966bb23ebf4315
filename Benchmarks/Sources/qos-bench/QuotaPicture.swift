import BenchCore

/// Requests in control groups with a quota: their 99th percentile over the quota, with and without low work.
enum QuotaPicture {
    private static let load = "rho=0.4"
    private static let piece = "low=0.5ms"

    /// The chart; `nil` without results of the benchmark of quotas.
    static func chart(_ results: [PictureLine]) -> LineChart? {
        var curves: [String: [Double: Double]] = [:]
        for line in results where line.benchmark == "QUOTA" {
            let words = line.case.split(separator: ",")
            guard words.count >= 4, words[0].hasPrefix("quota="), words[1] == load, words[2] == piece,
                let quota = Double(words[0].dropFirst(6))
            else { continue }
            curves["\(words[3]) \(line.metric)", default: [:]][quota] = line.value
        }
        guard !curves.isEmpty else { return nil }
        let end = curves.values.flatMap(\.keys).max() ?? 2
        return LineChart(
            title: "99th percentile of requests that need 0.4 of a control group's quota, beside low work",
            xAxis: .init(
                label: "processors of the quota", end: end, ticks: Array(stride(from: 0, through: end, by: 0.5))),
            panels: [
                .init(title: "beside background work", lines: lines(curves, "beside=background")),
                .init(title: "beside default, utility and background", lines: lines(curves, "beside=all")),
            ])
    }

    private static func lines(_ curves: [String: [Double: Double]], _ beside: String) -> [LineChart.Line] {
        styles.compactMap { prefix, peer, name, style in
            guard let curve = curves["\(beside) \(prefix)sojourn_p99_us[\(peer.rawValue)]"] else { return nil }
            return LineChart.Line(
                name: name, style: style, points: curve.sorted { $0.key < $1.key }.map { (x: $0.key, y: $0.value) })
        }
    }

    /// Names and colours, as in the other pictures; ours come last, over the others.
    private static let styles: [(prefix: String, peer: PeerKind, name: String, style: LineChart.Style)] = [
        ("", .defaultExecutor, "Swift's default executor", .init("#d55e00")),
        ("alone_", .ours, "swift-qos, no low work", .init("#444444", width: 1.5, isDashed: true)),
        ("", .ours, "swift-qos", .init("#0b4f94", width: 3)),
    ]
}
