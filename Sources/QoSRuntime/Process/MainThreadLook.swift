/// Decides how long the main thread looks for its next job before it sleeps. Times are nanoseconds.
///
/// A task that calls the main actor often calls it again soon. A job that comes during a look costs no system call and
/// wakes no thread. A wake-up takes up to 60 µs on a virtual machine. So the main thread looks only while its jobs
/// follow one another closely. Each look in vain doubles the number of turns without a look.
struct MainThreadLook {
    /// The longest look: a worker that the last job resumed may have to be woken first.
    static let longest: UInt64 = 50_000

    /// The longest pause between two turns that follow closely: two wake-ups, and the work between them.
    static let closest: UInt64 = 200_000

    /// The largest number of turns without a look, as a power of two. The looks then take less than 1 % of the time.
    private static let mostFailures = 6

    private var endedAt: UInt64 = 0
    private var isClose = false
    private var failures = 0
    private var skips = 0

    /// Notes that the main thread begins to run jobs.
    mutating func jobsBegan(at now: UInt64) {
        isClose = now &- endedAt < Self.closest
    }

    /// Notes that no job is left.
    ///
    /// - Returns: the time until which the main thread looks for more; `nil` if it sleeps at once.
    mutating func jobsEnded(at now: UInt64) -> UInt64? {
        endedAt = now
        guard isClose else { return nil }
        if skips > 0 {
            skips -= 1
            return nil
        }
        return now &+ Self.longest
    }

    /// Notes that a look found a job.
    mutating func succeeded() {
        failures = 0
    }

    /// Notes that a look found none.
    mutating func failed() {
        failures = min(failures + 1, Self.mostFailures)
        skips = 1 << failures
    }
}
