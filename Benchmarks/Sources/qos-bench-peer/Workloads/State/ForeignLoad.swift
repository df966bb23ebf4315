import BenchCore
import CBenchShims
import QoSCore
import QoSRuntime
import Synchronization

/// B18: requests of 300 µs arrive at userInitiated beside background work that would use all there is. In the middle
/// third, another service takes the processors. What requests and background work get in each span of time.
struct ForeignLoad: Workload {
    /// The share of all processors that the requests need.
    private static let load = 0.4
    /// The limit for requests that the monitor guards.
    private static let latencyLimit = Duration.milliseconds(20)

    /// Whether a monitor follows the machine's state.
    let isGoverned: Bool

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let times = PressureTimes(length: seconds)
        var configuration = SystemMonitor.Configuration()
        configuration.latencyLimit = LatencyLimit(Self.latencyLimit)
        let monitor: SystemMonitor? =
            if isGoverned, let scheduler = stage.scheduler {
                try SystemMonitor(governing: scheduler, configuration: configuration)
            } else { nil }
        let low = LowWork([.background], count: 8, piece: 500_000, on: stage)
        let loop = OpenLoop(load: Self.load, seconds: seconds)
        let requests = (0..<PressureTimes.spanCount).map { _ in Latencies(capacity: loop.count) }
        let begin = Counter()
        let watch = PressureWatch(times, low: low, scheduler: isGoverned ? stage.scheduler : nil)

        _ = await loop.run(from: stage.outside, submit: stage.submitter(.userInitiated)) {
            begin.add(Int(bench_now()))
            watch.begin()
        } end: {
            low.stop()
        } job: { _, intended in
            bench_work(OpenLoop.jobLength)
            let sojourn = bench_now() - intended
            monitor?.recordLatency(.nanoseconds(Int64(sojourn)))
            let span = Int((Double(intended) - Double(begin.count)) / 1e9 / times.span)
            requests[min(max(span, 0), requests.count - 1)].add(Double(sojourn))
        }
        await low.waitForEnd()
        var figures = try watch.end()
        monitor?.stop()

        for (span, latencies) in requests.enumerated() {
            Self.add(latencies.values, PressureTimes.key("request_p99_us", span: span), to: &figures)
        }
        figures["run_s"] = times.length
        let third = PressureTimes.spanCount / 3
        for (number, part) in ["before", "during", "after"].enumerated() {
            let spans = (number * third)..<((number + 1) * third)
            Self.add(spans.flatMap { requests[$0].values }, "request_p99_\(part)_us", to: &figures)
            let cores = spans.compactMap { figures[PressureTimes.key("low_cores", span: $0)] }
            figures["low_cores_\(part)"] = cores.reduce(0, +) / Double(third)
        }
        return figures
    }

    private static func add(_ latencies: [Double], _ key: String, to figures: inout RawFigures) {
        guard !latencies.isEmpty else { return }
        figures[key] = Statistics.quantile(latencies.sorted(), 0.99) / 1000
    }
}
