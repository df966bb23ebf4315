import Glibc

/// Arrivals of an open loop: independent of one another and of what is served (a Poisson process), from a seed.
public struct RandomArrivals: Sendable {
    private var state: UInt64
    private let meanGap: Double

    /// The last arrival, nanoseconds from the start.
    public private(set) var time: Double = 0

    /// Makes a process.
    ///
    /// - Parameters:
    ///   - perSecond: the mean rate, positive.
    ///   - seed: equal seeds give equal arrivals.
    public init(perSecond: Double, seed: UInt64) {
        state = seed
        meanGap = 1e9 / perSecond
    }

    /// The next arrival, nanoseconds from the start; not before the last one.
    public mutating func next() -> UInt64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        let uniform = (Double(mixed >> 11) + 0.5) / Double(1 << 53)
        time -= meanGap * log(uniform)
        return UInt64(time)
    }
}
