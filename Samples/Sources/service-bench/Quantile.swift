import Foundation

/// Quantiles by the nearest rank.
enum Quantile {
    /// Returns the value below which a share of the sorted values lies; NaN without values.
    static func of(_ sorted: [Double], _ share: Double) -> Double {
        sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    /// Returns the value in the middle of the sorted values, or the mean of the two there; NaN without values.
    static func median(_ sorted: [Double]) -> Double {
        guard !sorted.isEmpty else { return .nan }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// Returns the median, the smallest and the largest value as text; a single value alone.
    static func spread(_ values: [Double]) -> String {
        let sorted = values.sorted()
        guard let first = sorted.first, let last = sorted.last else { return "none" }
        func text(_ value: Double) -> String { value.formatted(.number.precision(.fractionLength(2)).grouping(.never)) }
        if sorted.count == 1 { return text(first) }
        return "\(text(median(sorted))) [\(text(first))…\(text(last))]"
    }
}
