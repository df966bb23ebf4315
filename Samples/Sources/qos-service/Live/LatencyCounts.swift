/// Counts of latencies in buckets that are an eighth of an octave wide, from 1 µs to a minute. A percentile is at most
/// an eighth too high.
struct LatencyCounts: Sendable {
    private static let octaves = 26
    private static let parts = 8

    private var counts = [UInt32](repeating: 0, count: octaves * parts)
    /// The number of latencies.
    private(set) var count = 0

    /// Counts a latency.
    mutating func record(_ latency: Duration) {
        let microseconds = max(1, latency / .microseconds(1))
        var octave = 0
        var rest = microseconds
        while rest >= 2, octave < Self.octaves - 1 {
            rest /= 2
            octave += 1
        }
        let part = min(Self.parts - 1, Int((rest - 1) * Double(Self.parts)))
        counts[octave * Self.parts + part] &+= 1
        count += 1
    }

    /// Returns the latency in milliseconds that a share of all does not exceed; nil if there is none.
    func percentile(_ share: Double) -> Double? {
        guard count > 0 else { return nil }
        let wanted = max(1, Int((Double(count) * share).rounded(.up)))
        var seen = 0
        for (bucket, number) in counts.enumerated() {
            seen += Int(number)
            guard seen >= wanted else { continue }
            let (octave, part) = bucket.quotientAndRemainder(dividingBy: Self.parts)
            let start = Double(1 << octave)
            return start * (1 + Double(part + 1) / Double(Self.parts)) / 1000
        }
        return nil
    }
}
