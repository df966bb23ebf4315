import BenchCore
import Synchronization

/// Collects durations from many threads without a lock. Nanoseconds.
///
/// Threading: any thread adds; ``values`` when nobody adds any more.
// SAFETY: each place is written once, by whoever drew its number; the counter orders the writes before the reads.
@safe
final class Latencies: @unchecked Sendable {
    private let places: UnsafeMutablePointer<Double>
    private let capacity: Int
    private let drawn = Atomic(0)
    private let written = Atomic(0)

    init(capacity: Int) {
        self.capacity = max(capacity, 1)
        unsafe places = .allocate(capacity: self.capacity)
        // Touched now, so that no page fault is measured.
        unsafe places.initialize(repeating: 0, count: self.capacity)
    }

    deinit {
        unsafe places.deallocate()
    }

    /// Adds a duration; what comes beyond the capacity is counted and not kept.
    ///
    /// - Returns: how many have been added.
    @discardableResult
    func add(_ nanoseconds: Double) -> Int {
        let place = drawn.wrappingAdd(1, ordering: .relaxed).oldValue
        if place < capacity { unsafe places[place] = nanoseconds }
        return written.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
    }

    /// All added values, in no particular order.
    var values: [Double] {
        let count = min(written.load(ordering: .acquiring), capacity)
        return unsafe Array(UnsafeBufferPointer(start: places, count: count))
    }
}
