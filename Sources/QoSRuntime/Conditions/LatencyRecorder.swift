import QoSCore
import Synchronization

/// Counts the latencies of requests until the monitor takes them.
///
/// Threading: any thread records; one thread takes.
// SAFETY: the table is made in `init`, freed in `deinit` and never replaced; its elements are atomic.
@safe
final class LatencyRecorder: @unchecked Sendable {
    private let buckets: UnsafeMutablePointer<Atomic<UInt32>>

    init() {
        unsafe buckets = .allocate(capacity: LatencyHistogram.bucketCount)
        for bucket in 0..<LatencyHistogram.bucketCount { unsafe (buckets + bucket).initialize(to: Atomic(0)) }
    }

    deinit {
        unsafe buckets.deinitialize(count: LatencyHistogram.bucketCount)
        unsafe buckets.deallocate()
    }

    /// Counts a latency in nanoseconds: one atomic addition.
    func record(_ nanoseconds: UInt64) {
        unsafe buckets[LatencyHistogram.bucket(of: nanoseconds)].wrappingAdd(1, ordering: .relaxed)
    }

    /// Takes the latencies that were recorded since the last call.
    func take() -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for bucket in 0..<LatencyHistogram.bucketCount
        where unsafe buckets[bucket].load(ordering: .relaxed) != 0 {
            histogram.add(UInt64(unsafe buckets[bucket].exchange(0, ordering: .relaxed)), to: bucket)
        }
        return histogram
    }
}
