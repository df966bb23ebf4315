/// Jobs in order of arrival: when, and how many nanoseconds of CPU time.
struct JobQueue {
    struct Job {
        var arrived: Int64
        var length: Int64
        /// Until when the job is enqueued again at its end; 0 is never.
        var loopsUntil: Int64 = 0
    }

    private var jobs: [Job] = []
    private var head = 0

    var isEmpty: Bool { head == jobs.count }
    var count: Int { jobs.count - head }

    mutating func push(_ job: Job) {
        jobs.append(job)
    }

    mutating func pop() -> Job? {
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
