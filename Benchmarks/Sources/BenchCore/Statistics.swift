/// Order statistics.
public enum Statistics {
    /// The median; of an even number of values the mean of the middle two. O(n log n).
    ///
    /// - Parameter values: not empty.
    public static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The smallest value that a share of the values does not exceed (nearest rank).
    ///
    /// - Parameters:
    ///   - sorted: ascending, not empty.
    ///   - share: 0…1.
    public static func quantile(_ sorted: [Double], _ share: Double) -> Double {
        let rank = Int((share * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }
}
