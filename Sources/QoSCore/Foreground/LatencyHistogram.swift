/// Counts of latencies in buckets whose width grows with the latency (the layout of HdrHistogram).
///
/// The buckets of an octave are equally wide. So a percentile is at most 1/32 too high, over the whole range of 1 ns to
/// 68 s. A longer latency counts as the longest one. The size is fixed: 8 KiB.
///
/// - Complexity: O(1) to record; O(buckets) to merge and for a percentile.
package struct LatencyHistogram: Sendable, Equatable {
    /// The number of buckets of an octave, as a power of two.
    private static let bits = 5
    /// The exponent of the first latency beyond the range.
    private static let top = 36

    /// The number of buckets.
    package static let bucketCount = (top - bits + 1) << bits

    private var counts: [UInt64]

    /// The number of latencies.
    package private(set) var count: UInt64 = 0

    /// Makes an empty histogram.
    package init() {
        counts = Array(repeating: 0, count: Self.bucketCount)
    }

    /// Returns the bucket of a latency in nanoseconds.
    package static func bucket(of nanoseconds: UInt64) -> Int {
        let value = min(nanoseconds, (1 << UInt64(top)) - 1)
        // The highest bit decides the octave, and the next five the bucket in it. Below 32 each value has its own.
        let exponent = max(0, UInt64.bitWidth - 1 - bits - value.leadingZeroBitCount)
        return exponent << bits + Int(value >> UInt64(exponent))
    }

    /// Returns the longest latency of a bucket, in nanoseconds.
    ///
    /// - Parameter bucket: 0 to less than ``bucketCount``.
    package static func longest(in bucket: Int) -> UInt64 {
        let exponent = max(0, bucket >> bits - 1)
        let within = UInt64(bucket - exponent << bits)
        return (within + 1) << UInt64(exponent) - 1
    }

    /// Counts a latency in nanoseconds.
    package mutating func record(_ nanoseconds: UInt64) {
        add(1, to: Self.bucket(of: nanoseconds))
    }

    /// Adds latencies to a bucket.
    package mutating func add(_ number: UInt64, to bucket: Int) {
        counts[bucket] &+= number
        count &+= number
    }

    /// Adds the latencies of another histogram.
    package mutating func merge(_ other: LatencyHistogram) {
        for bucket in counts.indices { counts[bucket] &+= other.counts[bucket] }
        count &+= other.count
    }

    /// Returns the latency that a share of all latencies does not exceed, in nanoseconds; `nil` for an empty histogram.
    ///
    /// - Parameter share: 0.99 for the 99th percentile; clamped to 0…1.
    package func percentile(_ share: Double) -> UInt64? {
        guard count > 0 else { return nil }
        let wanted = max(1, UInt64((Double(count) * min(1, max(0, share))).rounded(.up)))
        var seen: UInt64 = 0
        for bucket in counts.indices {
            seen &+= counts[bucket]
            if seen >= wanted { return Self.longest(in: bucket) }
        }
        return Self.longest(in: Self.bucketCount - 1)
    }
}
