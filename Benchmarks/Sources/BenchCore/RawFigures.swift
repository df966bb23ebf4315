/// The results of one run of a peer: values by key. Keys end in their unit where they have one (`ns`, `us`, `ms`).
public struct RawFigures: Sendable, Hashable {
    /// The values.
    public var values: [String: Double]

    /// Figures of those values.
    public init(_ values: [String: Double] = [:]) {
        self.values = values
    }

    /// The value of a key.
    public subscript(key: String) -> Double? {
        get { values[key] }
        set { values[key] = newValue }
    }

    /// Adds median, tails and maximum of latencies: `name_p50_us`, `name_p99_us`, `name_p999_us`, `name_max_us`.
    ///
    /// - Parameter latencies: nanoseconds; nothing is added when there are none.
    public mutating func addLatencies(_ name: String, _ latencies: [Double]) {
        guard !latencies.isEmpty else { return }
        let sorted = latencies.sorted()
        values["\(name)_p50_us"] = Statistics.quantile(sorted, 0.5) / 1000
        values["\(name)_p99_us"] = Statistics.quantile(sorted, 0.99) / 1000
        values["\(name)_p999_us"] = Statistics.quantile(sorted, 0.999) / 1000
        values["\(name)_max_us"] = sorted[sorted.count - 1] / 1000
    }
}

extension RawFigures {
    /// One line of JSON, keys in order; values that are not numbers are left out.
    public var json: String {
        let fields = values.filter { $0.value.isFinite }.sorted { $0.key < $1.key }
        return "{" + fields.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }
}
