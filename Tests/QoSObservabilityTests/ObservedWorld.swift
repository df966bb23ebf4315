#if Observability
import CoreMetrics
import Logging
import Synchronization

/// Keeps what is logged.
final class LogBook: Sendable {
    struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: Logger.Metadata
    }

    private let list = Mutex<[Line]>([])
    var lines: [Line] { list.withLock { $0 } }

    var logger: Logger {
        Logger(label: "test") { _ in Handler(book: self) }
    }

    private struct Handler: LogHandler {
        let book: LogBook
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = Line(
                level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:])
            book.list.withLock { $0.append(line) }
        }
    }
}

/// Keeps the sums of metrics, by name and labels: `qos.workloads.items{background,ready}`.
final class MetricBook: MetricsFactory {
    private let list = Mutex<[String: Double]>([:])
    subscript(_ name: String, _ labels: String...) -> Double? {
        list.withLock { $0["qos.workloads.\(name){\(labels.joined(separator: ","))}"] }
    }

    private final class Handler: CounterHandler, RecorderHandler, TimerHandler, MeterHandler {
        let key: String
        let book: MetricBook
        let isGauge: Bool

        init(_ label: String, _ dimensions: [(String, String)], _ book: MetricBook, isGauge: Bool = false) {
            key = "\(label){\(dimensions.map(\.1).joined(separator: ","))}"
            self.book = book
            self.isGauge = isGauge
        }

        func increment(by amount: Int64) { add(Double(amount)) }
        func increment(by amount: Double) { add(amount) }
        func decrement(by amount: Double) { add(-amount) }
        func reset() {}
        func set(_ value: Int64) { record(Double(value)) }
        func set(_ value: Double) { record(value) }
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) { if isGauge { book.list.withLock { $0[key] = value } } else { add(value) } }
        func recordNanoseconds(_ duration: Int64) { add(Double(duration) / 1e9) }
        private func add(_ amount: Double) { book.list.withLock { $0[key, default: 0] += amount } }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Handler(label, dimensions, self)
    }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Handler(label, dimensions, self, isGauge: !aggregate)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        Handler(label, dimensions, self)
    }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        Handler(label, dimensions, self, isGauge: true)
    }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
}
#endif
