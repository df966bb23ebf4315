/// The longest latency that requests should have (rule S4).
public struct LatencyLimit: Sendable, Hashable, Codable {
    /// The latency that most requests do not exceed. More than zero.
    public var limit: Duration

    /// The share of the requests that should keep the limit, 0…1.
    public var share: Double

    /// The time over which requests are counted. At least a millisecond.
    public var window: Duration

    /// The number of requests in the window below which there is no judgement.
    public var minimumCount: Int

    /// The time for which requests have to be in time again before background work may go on.
    public var recovery: Duration

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - limit: the latency that most requests do not exceed.
    ///   - share: the share that should keep the limit.
    ///   - window: the time over which requests are counted.
    ///   - minimumCount: the number of requests below which there is no judgement.
    ///   - recovery: the time before background work may go on.
    public init(
        _ limit: Duration, share: Double = 0.99, window: Duration = .seconds(5), minimumCount: Int = 100,
        recovery: Duration = .seconds(5)
    ) {
        self.limit = limit
        self.share = share
        self.window = window
        self.minimumCount = minimumCount
        self.recovery = recovery
    }
}
