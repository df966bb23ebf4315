internal import Synchronization

/// The latencies of the last minutes' requests, in steps of equal length.
final class RequestHistory: Sendable {
    /// The length of a step.
    static let step = Duration.seconds(2)
    /// The number of steps that are kept: five minutes.
    static let length = 150

    /// The percentiles of a step, in milliseconds.
    struct Point: Sendable, Encodable, Equatable {
        /// Steps since the start of the service.
        let step: Int
        let count: Int
        let p50: Double
        let p99: Double
    }

    private struct State {
        var number = 0
        var counts = LatencyCounts()
        var points: [Point] = []

        /// Ends the step that goes on if it is an earlier one.
        mutating func advance(to step: Int) {
            guard step > number else { return }
            if let p50 = counts.percentile(0.5), let p99 = counts.percentile(0.99) {
                points.append(Point(step: number, count: counts.count, p50: p50, p99: p99))
                counts = LatencyCounts()
            }
            number = step
            points.removeAll { $0.step <= step - RequestHistory.length }
        }
    }

    private let start: ContinuousClock.Instant
    private let state = Mutex(State())

    init(start: ContinuousClock.Instant = .now) {
        self.start = start
    }

    /// Returns the steps from the start of the service to a moment, with a fraction.
    func steps(until time: ContinuousClock.Instant = .now) -> Double {
        (time - start) / Self.step
    }

    /// Counts the latency of a request that ended now.
    func record(_ latency: Duration, at time: ContinuousClock.Instant = .now) {
        let step = Int(steps(until: time))
        state.withLock { state in
            state.advance(to: step)
            state.counts.record(latency)
        }
    }

    /// The steps that are over and had requests.
    func points(at time: ContinuousClock.Instant = .now) -> [Point] {
        let step = Int(steps(until: time))
        return state.withLock { state in
            state.advance(to: step)
            return state.points
        }
    }
}
