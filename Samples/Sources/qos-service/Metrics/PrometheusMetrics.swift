internal import CoreMetrics
internal import Synchronization

/// Keeps the values given to swift-metrics, and writes them in the text form of Prometheus.
///
/// Names keep their words, joined by `_`. Counters end in `_total`. Timers end in `_seconds`, and are summaries without
/// quantiles.
final class PrometheusMetrics: MetricsFactory {
    /// One metric with one set of labels.
    struct Key: Hashable, Comparable {
        let name: String
        let labels: String

        static func < (left: Key, right: Key) -> Bool {
            (left.name, left.labels) < (right.name, right.labels)
        }
    }

    private let values = Mutex<[Key: MetricValue]>([:])

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        metric(label, suffix: "_total", dimensions, .counter)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        metric(label, suffix: "", dimensions, aggregate ? .summary : .gauge)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        metric(label, suffix: "", dimensions, .gauge)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        metric(label, suffix: "_seconds", dimensions, .summary)
    }

    // The service makes a bounded number of metrics, and they are kept.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    /// All metrics, sorted by name.
    var text: String {
        var text = ""
        var last = ""
        for (key, value) in values.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            if key.name != last { text += "# TYPE \(key.name) \(value.kind.rawValue)\n" }
            last = key.name
            text += value.lines(key)
        }
        return text
    }

    private func metric(
        _ label: String,
        suffix: String,
        _ dimensions: [(String, String)],
        _ kind: MetricValue.Kind
    ) -> MetricValue {
        let labels = dimensions.map { "\(Self.name($0.0))=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        let key = Key(name: Self.name(label) + suffix, labels: labels)
        return values.withLock { values in
            let value = values[key] ?? MetricValue(kind)
            values[key] = value
            return value
        }
    }

    /// Returns a name with the characters that Prometheus allows.
    static func name(_ label: String) -> String {
        String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
