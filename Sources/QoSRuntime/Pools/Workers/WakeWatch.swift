import QoSKernel
import Synchronization

/// The workers of a pool that were woken, and whose threads do not run yet.
///
/// A woken worker counts as searching at once, so that threads that add work wake no second one for the same work. Its
/// thread may be held up, though: another program or the hypervisor has its processor. A wake-up that takes long is
/// *late*, and then no longer stands for a search.
///
/// Threading: any thread.
struct WakeWatch: ~Copyable {
    /// The time after which a wake-up is late. Nanoseconds. A worker on an idle virtual processor takes up to half of
    /// it.
    static let patience: UInt64 = 100_000

    private let onTheirWay = Atomic<Int>(0)
    private let latest = Atomic<UInt64>(0)

    /// Notes that a worker is about to be woken.
    @inline(__always)
    func wakes() {
        latest.store(MonotonicClock.nanoseconds(), ordering: .relaxed)
        onTheirWay.wrappingAdd(1, ordering: .relaxed)
    }

    /// Notes that a woken worker runs.
    @inline(__always)
    func began() {
        onTheirWay.wrappingSubtract(1, ordering: .relaxed)
    }

    /// Whether a worker was woken some time ago, and none since, and one of them does not run yet.
    @inline(__always)
    var isLate: Bool {
        onTheirWay.load(ordering: .relaxed) > 0
            && MonotonicClock.nanoseconds() &- latest.load(ordering: .relaxed) > Self.patience
    }
}
