internal import Synchronization

/// The rate at which files are read. One task updates it, and many read it.
final class ThroughputMeter: Sendable {
    private let estimate = Mutex(RateEstimate())

    /// Files per second.
    var rate: Double {
        estimate.withLock { $0.perSecond }
    }

    /// Notes the number of files read until now.
    func observe(_ count: Int) {
        let now = ContinuousClock.now
        estimate.withLock { $0.observe(count, at: now) }
    }
}
