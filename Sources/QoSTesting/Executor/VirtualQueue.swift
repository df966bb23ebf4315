/// The queued jobs of one class, in order of arrival.
///
/// - Complexity: O(1) amortised to add and to take the first; O(n) to take another one in order.
struct VirtualQueue: Sendable {
    private var jobs: [VirtualJob] = []
    private var head = 0

    var isEmpty: Bool { head == jobs.count }

    var count: Int { jobs.count - head }

    mutating func add(_ job: VirtualJob) {
        jobs.append(job)
    }

    /// The queued jobs, the longest-waiting one first.
    var waiting: ArraySlice<VirtualJob> { jobs[head...] }

    /// Takes a job by its index in ``waiting``.
    mutating func take(at index: Int) -> VirtualJob {
        guard index == head else { return jobs.remove(at: index) }
        let job = jobs[head]
        head += 1
        // A job that was taken must not be kept: it refers to the scheduler whose queue this is.
        if isEmpty || (head > 256 && head * 2 > jobs.count) {
            jobs.removeFirst(head)
            head = 0
        }
        return job
    }
}
