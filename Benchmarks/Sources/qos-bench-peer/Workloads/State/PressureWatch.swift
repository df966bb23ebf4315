import BenchCore
import CBenchShims
import QoSCore
import QoSRuntime
import Synchronization

/// A thread that starts the other service, and reads once for each span what the background work has used.
///
/// Threading: `begin()` and `end()` are called once each, in this order, by any thread.
final class PressureWatch: Sendable {
    private let times: PressureTimes
    private let low: LowWork
    private let scheduler: QoSScheduler?
    private let thread = OutsideThread(isRealTime: true)
    private let result = Mutex(Result<RawFigures, StressFailure>.success(RawFigures()))
    private let isDone = Flag()

    /// Makes a watch.
    ///
    /// - Parameter scheduler: whose limit for background is watched; `nil` for none.
    init(_ times: PressureTimes, low: LowWork, scheduler: QoSScheduler?) {
        self.times = times
        self.low = low
        self.scheduler = scheduler
    }

    func begin() {
        let start = bench_now()
        thread.perform { [self] in
            let found: Result<RawFigures, StressFailure>
            do throws(StressFailure) { found = .success(try watch(from: start)) } catch { found = .failure(error) }
            result.withLock { $0 = found }
            isDone.set()
        }
    }

    /// The figures, after the last span.
    func end() throws(StressFailure) -> RawFigures {
        while !isDone.isSet { bench_sleep_until(bench_now() + 1_000_000) }
        return try result.withLock { $0 }.get()
    }

    private func watch(from start: UInt64) throws(StressFailure) -> RawFigures {
        var figures = RawFigures()
        var stress: StressProcess?
        var used = low.used()
        var (limit, lifted): (Double?, Double?)
        for span in 0..<PressureTimes.spanCount {
            let end = Double(span + 1) * times.span
            if stress == nil, end > times.load.lowerBound + times.span / 2 {
                stress = try StressProcess(
                    threads: 2 * activeProcessorCount(), seconds: times.load.upperBound - times.load.lowerBound)
            }
            let deadline = start + UInt64(end * 1e9)
            while bench_now() < deadline {
                bench_sleep_until(min(deadline, bench_now() + 20_000_000))
                let now = Double(bench_now() - start) / 1e9
                let isLimited = scheduler?.widthLimit(for: .background) != nil
                if isLimited, limit == nil, now > times.load.lowerBound { limit = now - times.load.lowerBound }
                if isLimited {
                    lifted = nil
                } else if limit != nil, lifted == nil {
                    lifted = now - times.load.upperBound
                }
            }
            let now = low.used()
            figures[PressureTimes.key("low_cores", span: span)] = Double(now - used) / 1e9 / times.span
            used = now
        }
        stress?.wait()
        if let limit { figures["limit_after_s"] = limit }
        if let lifted { figures["lifted_after_s"] = lifted }
        return figures
    }
}
