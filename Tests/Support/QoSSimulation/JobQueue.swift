/// Jobs in order of arrival: when, and how many nanoseconds of CPU time.
///
/// - Complexity: O(1) amortised.
package struct JobQueue: Sendable {
    /// One simulated job.
    package struct Job: Sendable {
        /// The time of its arrival, in nanoseconds of virtual time.
        package var arrived: Int64
        /// Nanoseconds of CPU time.
        package var length: Int64
        /// The time until which the job is enqueued again at its end; 0 is never.
        package var loopsUntil: Int64 = 0
        /// The place in the list of jobs that the run keeps; -1 without such a list.
        package var index = -1
    }

    private var jobs: [Job] = []
    private var head = 0

    /// Whether no job waits.
    package var isEmpty: Bool { head == jobs.count }

    /// The number of waiting jobs.
    package var count: Int { jobs.count - head }

    /// Adds a job behind all others.
    package mutating func push(_ job: Job) {
        jobs.append(job)
    }

    /// Takes the job that has waited longest; `nil` without one.
    package mutating func pop() -> Job? {
        guard head < jobs.count else { return nil }
        defer {
            head += 1
            if head > 256, head * 2 > jobs.count {
                jobs.removeFirst(head)
                head = 0
            }
        }
        return jobs[head]
    }
}
