/// The way from the runs to a figure, and the figure's target.
public struct FigureRule: Sendable, Hashable {
    /// Its name in the results.
    public let metric: String
    /// Whose figure it is.
    public let peer: PeerKind
    /// The expression of the figure.
    public let expression: Expression
    /// The target; `nil` for a figure that is only shown.
    public let target: Target?

    /// One value of one series.
    public struct Operand: Sendable, Hashable {
        /// Whose.
        public let series: Series
        /// Which.
        public let key: String

        /// Makes an operand.
        public init(_ series: Series, _ key: String) {
            self.series = series
            self.key = key
        }
    }

    /// An expression over the results of runs.
    public enum Expression: Sendable, Hashable {
        /// The median.
        case value(Operand)
        /// The first median over the second.
        case ratio(Operand, Operand)
        /// The first median less the second.
        case difference(Operand, Operand)
        /// The number of the first operand's runs whose value is above the factor times the second operand's median.
        /// The spread is that of the runs' ratios to that median.
        case runsAbove(Double, Operand, Operand)
    }

    /// Makes a rule.
    public init(_ metric: String, _ peer: PeerKind, _ expression: Expression, _ target: Target? = nil) {
        self.metric = metric
        self.peer = peer
        self.expression = expression
        self.target = target
    }

    /// Works the figure out; `nil` when a run it needs has not given the value.
    ///
    /// - Parameter runs: what each series found, one entry per repetition, in order.
    public func evaluate(_ runs: [Series: [RawFigures]]) -> Figure? {
        switch expression {
        case .value(let operand):
            guard let values = Self.values(operand, runs) else { return nil }
            return Figure(
                value: Statistics.median(values), minimum: values.min() ?? .nan, maximum: values.max() ?? .nan)
        case .ratio(let first, let second):
            return Self.combine(first, second, runs) { $1 == 0 ? .nan : $0 / $1 }
        case .difference(let first, let second):
            return Self.combine(first, second, runs) { $0 - $1 }
        case .runsAbove(let factor, let first, let second):
            guard let values = Self.values(first, runs), let base = Self.values(second, runs) else { return nil }
            let ratios = values.map { $0 / Statistics.median(base) }
            return Figure(
                value: Double(ratios.count { $0 > factor }), minimum: ratios.min() ?? .nan,
                maximum: ratios.max() ?? .nan)
        }
    }

    private static func values(_ operand: Operand, _ runs: [Series: [RawFigures]]) -> [Double]? {
        let values = (runs[operand.series] ?? []).compactMap { $0[operand.key] }
        return values.isEmpty ? nil : values
    }

    private static func combine(
        _ first: Operand, _ second: Operand, _ runs: [Series: [RawFigures]], _ body: (Double, Double) -> Double
    ) -> Figure? {
        guard let left = values(first, runs), let right = values(second, runs) else { return nil }
        let pairs = zip(left, right).map(body)
        return Figure(
            value: body(Statistics.median(left), Statistics.median(right)),
            minimum: pairs.min() ?? .nan, maximum: pairs.max() ?? .nan)
    }
}

extension FigureRule {
    /// The operands of the expression.
    public var operands: [Operand] {
        switch expression {
        case .value(let operand): [operand]
        case .ratio(let first, let second), .difference(let first, let second), .runsAbove(_, let first, let second):
            [first, second]
        }
    }
}
