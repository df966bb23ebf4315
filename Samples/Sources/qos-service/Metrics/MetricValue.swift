internal import CoreMetrics
internal import Synchronization

/// The value of one metric.
final class MetricValue: CounterHandler, RecorderHandler, MeterHandler, TimerHandler {
    /// The type of the value for Prometheus.
    enum Kind: String {
        case counter, gauge, summary
    }

    private struct State {
        var count: Int64 = 0
        var value = 0.0
    }

    let kind: Kind
    private let state = Mutex(State())

    init(_ kind: Kind) {
        self.kind = kind
    }

    func increment(by amount: Int64) { add(Double(amount)) }
    func increment(by amount: Double) { add(amount) }
    func decrement(by amount: Double) { add(-amount) }
    func reset() { set(0.0) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0.value = value } }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        if kind == .gauge { set(value) } else { add(value) }
    }

    /// Returns the lines that show the value.
    func lines(_ key: PrometheusMetrics.Key) -> String {
        let state = state.withLock { $0 }
        let labels = key.labels.isEmpty ? "" : "{\(key.labels)}"
        guard kind == .summary else { return "\(key.name)\(labels) \(Self.number(state.value))\n" }
        return "\(key.name)_sum\(labels) \(Self.number(state.value))\n\(key.name)_count\(labels) \(state.count)\n"
    }

    private func add(_ amount: Double) {
        state.withLock { state in
            state.count += 1
            state.value += amount
        }
    }

    /// Formats a number, a whole one without a fraction.
    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }
}
