internal import Glibc
package import QoSCore
package import QoSTesting

/// A job of a simulated world: an amount of CPU time of a class, from a time on.
///
/// ```swift
/// let jobs = SimulatedJob.arrivals(of: .userInteractive, load: 0.5, length: .microseconds(300), for: .seconds(1),
/// seed: 7)
/// ```
package struct SimulatedJob: Sendable, Hashable {
    /// The class that the job is enqueued at.
    package var qosClass: QoSClass

    /// The time of the job's arrival, from the start of the run; not negative.
    package var arrival: Duration

    /// The job's CPU time; at least a nanosecond.
    package var length: Duration

    /// Makes a job.
    package init(_ qosClass: QoSClass, arrival: Duration, length: Duration) {
        self.qosClass = qosClass
        self.arrival = arrival
        self.length = length
    }
}

extension SimulatedJob {
    /// Returns jobs that arrive at random times, independent of each other (an open loop: a Poisson process).
    ///
    /// - Complexity: O(jobs) random numbers.
    /// - Parameters:
    ///   - qosClass: The class of all jobs.
    ///   - load: The share of one core that the jobs need together; above 0, may be above 1.
    ///   - length: The CPU time of each job; above 0.
    ///   - time: The time during which jobs arrive.
    ///   - seed: The same seed gives the same jobs.
    package static func arrivals(
        of qosClass: QoSClass, load: Double, length: Duration, for time: Duration, seed: UInt64
    ) -> [SimulatedJob] {
        let end = Double(time.schedulerNanoseconds)
        let mean = Double(max(1, length.schedulerNanoseconds)) / max(load, .leastNormalMagnitude)
        var random = SeededGenerator(seed: seed)
        var jobs: [SimulatedJob] = []
        var at = 0.0
        while true {
            at -= mean * log(1 - Double.random(in: 0..<1, using: &random))
            guard at < end else { return jobs }
            jobs.append(SimulatedJob(qosClass, arrival: .nanoseconds(Int64(at)), length: length))
        }
    }

    /// Returns the jobs of a timeline. A digit is a job of that many columns that arrives at the start of its column.
    ///
    /// - Throws: ``TimelineError`` for a row that is no class, and for a mark that is neither a digit nor `-`.
    package static func jobs(
        _ timeline: Timeline, column: Duration = .milliseconds(1)
    ) throws(TimelineError) -> [SimulatedJob] {
        var jobs: [SimulatedJob] = []
        for row in timeline.rows {
            guard let qosClass = row.qosClass else { throw .unknownClass(row.label) }
            for (index, mark) in row.marks.enumerated() where mark != Timeline.nothing {
                guard let columns = mark.wholeNumberValue else { throw .unknownMark(mark) }
                jobs.append(SimulatedJob(qosClass, arrival: column * index, length: column * columns))
            }
        }
        return jobs
    }

    var event: ScriptEvent {
        ScriptEvent(
            at: max(0, arrival.schedulerNanoseconds),
            kind: .arrive(qosClass, length: max(1, length.schedulerNanoseconds)))
    }
}
