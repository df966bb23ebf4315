package import QoSCore
package import QoSTesting

/// The result of a simulated run.
package struct ScheduleReport: Sendable {
    /// The result for one job.
    package struct Outcome: Sendable, Hashable {
        /// The job.
        package let job: SimulatedJob

        /// The time at which a worker took the job, from the start of the run.
        package let started: Duration

        /// The time at which the job had its CPU time, from the start of the run.
        package let ended: Duration

        /// The time that the job waited for a worker.
        package var delay: Duration { started - job.arrival }

        /// The time from the job's arrival to its end.
        package var sojourn: Duration { ended - job.arrival }
    }

    /// The jobs in the order of their arrival.
    package let outcomes: [Outcome]

    /// The number of times that a worker parked at the end of a job although its class had work.
    package let parks: UInt64

    /// The number of times that higher classes stood aside for a class that had waited its worst-case wait.
    package let starvationWindows: UInt64

    private let coreTimes: [Int64]
    private let longestWaits: [Int64]
    private let recorder: TimelineRecorder?

    init(_ simulation: AdmissionSimulation, jobs: [SimulatedJob]) {
        let times = simulation.outcomes ?? []
        outcomes = zip(jobs, times).compactMap { job, times in
            guard let started = times.started, let ended = times.ended else { return nil }
            return Outcome(job: job, started: .nanoseconds(started), ended: .nanoseconds(ended))
        }
        parks = simulation.machine.counters.parks
        starvationWindows = simulation.machine.counters.windows
        coreTimes = simulation.results.coreTime
        longestWaits = simulation.results.longestUnserved
        recorder = simulation.recorder
    }

    /// The time on cores that a class got.
    package func coreTime(of qosClass: QoSClass) -> Duration { .nanoseconds(coreTimes[qosClass.rank]) }

    /// The longest time for which a class had work and no core (rule C7).
    package func longestWait(of qosClass: QoSClass) -> Duration { .nanoseconds(longestWaits[qosClass.rank]) }

    /// The time from arrival to end below which a part of a class's jobs stayed; zero without jobs.
    ///
    /// - Parameters:
    ///   - qosClass: The class of the jobs.
    ///   - quantile: 0…1; 0.99 is the value that one job in a hundred exceeds.
    package func sojourn(of qosClass: QoSClass, quantile: Double) -> Duration {
        let sorted = outcomes.lazy.filter { $0.job.qosClass == qosClass }.map(\.sojourn).sorted()
        guard !sorted.isEmpty else { return .zero }
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * max(0, quantile)))]
    }

    /// The timeline of each class, with columns of some length. A digit is the number of its jobs that had a core.
    package func timeline(column: Duration = .milliseconds(1)) -> Timeline {
        recorder?.timeline(column: column.schedulerNanoseconds) ?? Timeline(rows: [])
    }
}
