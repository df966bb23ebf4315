import BenchCore
import CBenchShims

/// Jobs that arrive at random times, whether the earlier ones are done or not.
///
/// The times come from a fixed seed: each peer and each repetition has the same.
struct OpenLoop {
    /// The processor time of one job, nanoseconds.
    static let jobLength: UInt64 = 300_000

    private static let seed: UInt64 = 1
    /// The time for which competing work runs before the first arrival.
    private static let leadIn: UInt64 = 100_000_000

    private let arrivals: [UInt64]

    /// - Parameters:
    ///   - load: the share of the processors that the jobs need.
    ///   - processors: the number of processors that the process may use at a time.
    init(load: Double, of processors: Double = Double(activeProcessorCount()), seconds: Double) {
        let perSecond = load * processors / (Double(Self.jobLength) / 1e9)
        var random = RandomArrivals(perSecond: perSecond, seed: Self.seed)
        var all = [random.next()]
        while all[all.count - 1] < UInt64(seconds * 1e9) { all.append(random.next()) }
        arrivals = all
    }

    var count: Int { arrivals.count }

    /// From the first submission to the last, nanoseconds.
    var length: UInt64 { arrivals[arrivals.count - 1] }

    /// Submits all jobs and waits until they have run.
    ///
    /// - Parameters:
    ///   - outside: where the jobs come from.
    ///   - submit: hands the job of a number, in order of arrival, to what is measured.
    ///   - begin: called when the first arrival is near.
    ///   - end: called after the last. Where the jobs cannot keep up, the rest of them runs without what competes if
    ///     this stops it: what they would still have had to wait is left out, in favour of the executor that has fallen
    ///     behind.
    ///   - job: one job; gets its number and the time at which it was meant to arrive.
    /// - Returns: how late the jobs were submitted.
    func run(
        from outside: OutsideThread,
        submit: @escaping @Sendable (_ number: Int, _ job: @escaping @Sendable () -> Void) -> Void,
        begin: @escaping @Sendable () -> Void, end: @escaping @Sendable () -> Void,
        job: @escaping @Sendable (_ number: Int, _ intended: UInt64) -> Void
    ) async -> Latencies {
        let lateness = Latencies(capacity: arrivals.count)
        let finished = Counter()
        await withCheckedContinuation { continuation in
            outside.perform {
                let start = bench_now() + Self.leadIn
                bench_sleep_until(start)
                begin()
                for (number, arrival) in arrivals.enumerated() {
                    let intended = start + arrival
                    if bench_now() < intended { bench_sleep_until(intended) }
                    lateness.add(Double(bench_now() - intended))
                    submit(number) {
                        job(number, intended)
                        if finished.add() == arrivals.count { continuation.resume() }
                    }
                }
                end()
            }
        }
        return lateness
    }
}
