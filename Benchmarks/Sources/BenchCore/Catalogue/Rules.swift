/// Short ways to write an experiment's rules.
struct Rules {
    private(set) var all: [FigureRule] = []

    /// Shows values of series as they are.
    mutating func show(_ series: [Series], _ keys: [String], prefix: String = "") {
        for one in series {
            for key in keys { all.append(FigureRule(prefix + key, one.peer, .value(.init(one, key)))) }
        }
    }

    /// Holds a value against a target.
    mutating func value(_ metric: String, _ series: Series, _ key: String, _ target: Target?) {
        all.append(FigureRule(metric, series.peer, .value(.init(series, key)), target))
    }

    /// Holds the ratio of one key's medians against a target.
    mutating func ratio(_ metric: String, _ key: String, _ first: Series, over second: Series, _ target: Target? = nil)
    {
        all.append(FigureRule(metric, first.peer, .ratio(.init(first, key), .init(second, key)), target))
    }

    /// Holds the ratio of the medians of two keys against a target.
    mutating func ratio(
        _ metric: String, _ key: String, _ first: Series, over second: Series, _ other: String, _ target: Target?
    ) {
        all.append(FigureRule(metric, first.peer, .ratio(.init(first, key), .init(second, other)), target))
    }

    /// The same with the other executor's series on top: how many times more it has.
    mutating func advantage(
        _ metric: String, _ key: String, of first: Series, over second: Series, _ target: Target? = nil
    ) {
        all.append(FigureRule(metric, first.peer, .ratio(.init(second, key), .init(first, key)), target))
    }

    /// Holds the number of runs whose value is above a multiple of the other series' median against zero.
    mutating func runsAbove(_ factor: Double, _ metric: String, _ key: String, _ first: Series, over second: Series) {
        all.append(
            FigureRule(metric, first.peer, .runsAbove(factor, .init(first, key), .init(second, key)), .atMost(0)))
    }

    /// Holds the difference of one key's medians against a target.
    mutating func difference(
        _ metric: String, _ key: String, _ first: Series, less second: Series, _ target: Target? = nil
    ) {
        all.append(FigureRule(metric, first.peer, .difference(.init(first, key), .init(second, key)), target))
    }
}
