internal import Glibc

/// The growth rate of a number, smoothed over the last seconds. A pure value; time is an argument.
struct RateEstimate: Sendable {
    /// Seconds after which an observation counts for about a third.
    private static let memory = 2.0

    /// Per second.
    private(set) var perSecond = 0.0
    private var last: (count: Int, time: ContinuousClock.Instant)?

    /// Notes the number at a moment. Moments do not go backwards.
    mutating func observe(_ count: Int, at time: ContinuousClock.Instant) {
        defer { last = (count, time) }
        guard let last, time > last.time else { return }
        let seconds = (time - last.time) / .seconds(1)
        let weight = 1 - exp(-seconds / Self.memory)
        perSecond += weight * (Double(count - last.count) / seconds - perSecond)
        if perSecond < 0.05 { perSecond = 0 }
    }
}
