/// One line of a result for other programs.
public struct ResultLine: Sendable, Hashable {
    /// `B1`.
    public let benchmark: String
    /// The experiment, and whether it ran as root or without privileges.
    public let caseName: String
    /// Which figure, of which peer.
    public let metric: String
    /// The figure.
    public let figure: Figure
    /// The target.
    public let target: Target?

    /// Makes a line.
    public init(benchmark: String, caseName: String, metric: String, figure: Figure, target: Target?) {
        self.benchmark = benchmark
        self.caseName = caseName
        self.metric = metric
        self.figure = figure
        self.target = target
    }

    /// JSON: `benchmark`, `case`, `metric`, `value`, `min`, `max`, `target`, `met`; the last two `null` without a
    /// target.
    public var json: String {
        let fields = [
            ("benchmark", "\"\(benchmark)\""),
            ("case", "\"\(caseName)\""),
            ("metric", "\"\(metric)\""),
            ("value", Self.number(figure.value)),
            ("min", Self.number(figure.minimum)),
            ("max", Self.number(figure.maximum)),
            ("target", target.map { Self.number($0.bound) } ?? "null"),
            ("met", target.map { "\($0.isMet(by: figure.value))" } ?? "null"),
        ]
        return "{" + fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    private static func number(_ value: Double) -> String {
        value.isFinite ? Numerals.short(value) : "null"
    }

    /// A line of a table: metric, value, spread, target and verdict.
    public var row: String {
        var text = "  " + Self.padded(metric, 44)
        text += Self.padded(Numerals.rounded(figure.value), 10, right: true)
        text += "  " + Self.padded("[\(Numerals.rounded(figure.minimum))…\(Numerals.rounded(figure.maximum))]", 20)
        switch target {
        case .atMost(let bound): text += "  ≤ \(Numerals.rounded(bound))"
        case .atLeast(let bound): text += "  ≥ \(Numerals.rounded(bound))"
        case nil: break
        }
        if let target { text += target.isMet(by: figure.value) ? "  met" : "  MISSED" }
        while text.hasSuffix(" ") { text.removeLast() }
        return text
    }

    private static func padded(_ text: String, _ width: Int, right: Bool = false) -> String {
        let padding = String(repeating: " ", count: max(0, width - text.count))
        return right ? padding + text : text + padding
    }
}
