/// Decides whether background work hurts the program's own requests (rule S4).
///
/// The state is ``ForegroundState/delayed`` from the moment at which the percentile of the window exceeds the limit. It
/// ends when the percentile was below 4/5 of the limit, or there were too few requests, for the recovery time.
package struct ForegroundGuard: Sendable {
    /// The share of the limit below which requests are in time again.
    private static let band = 0.8

    private let limit: LatencyLimit
    private var window: LatencyWindow
    private var hysteresis: Hysteresis<ForegroundState>
    private var condition: Condition<ForegroundState>?

    package init(_ limit: LatencyLimit) {
        self.limit = limit
        window = LatencyWindow(length: limit.window)
        hysteresis = Hysteresis(.nominal, fallAfter: limit.recovery)
    }

    /// Takes the latencies since the last observation, and returns the condition after them.
    package mutating func observe(
        _ latencies: LatencyHistogram, at now: SchedulerInstant
    ) -> Condition<ForegroundState> {
        window.add(latencies, at: now)
        let all = window.latencies
        let isEnough = all.count >= UInt64(max(1, limit.minimumCount))
        let found = isEnough ? all.percentile(limit.share) : nil
        let most = Double(limit.limit.schedulerNanoseconds)
        let state = hysteresis.observe(
            rising: found.map { Double($0) > most ? .delayed : .nominal } ?? .nominal,
            falling: found.map { Double($0) >= most * Self.band ? .delayed : .nominal } ?? .nominal, at: now)
        if let condition, condition.state == state, condition.isKnown == (found != nil) { return condition }
        let reason =
            found.map {
                "\(Self.percent(limit.share)) of \(all.count) requests took at most \(Self.text($0)); the limit is \(limit.limit)"
            }
            ?? "\(all.count) requests in \(limit.window) are too few to judge"
        let condition = Condition(state, because: reason, isKnown: found != nil)
        self.condition = condition
        return condition
    }

    private static func percent(_ share: Double) -> String { "\((share * 1000).rounded() / 10) %" }

    private static func text(_ nanoseconds: UInt64) -> String {
        "\((Double(nanoseconds) / 10_000).rounded() / 100) ms"
    }
}
