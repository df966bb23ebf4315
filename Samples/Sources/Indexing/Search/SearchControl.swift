internal import Glibc
internal import Synchronization

/// The means to end a search early: time limits, and a cancellation from any thread.
public final class SearchControl: Sendable {
    /// The beginning of a search.
    private struct Beginning {
        let time = ContinuousClock.now
        let processorTime = threadProcessorTime()
    }

    private let timeLimit: Duration?
    private let processorTimeLimit: Duration?
    private let beginning = Mutex<Beginning?>(nil)
    private let cancelled = Atomic(false)

    /// Makes a control for one search.
    ///
    /// - Parameters:
    ///   - timeLimit: The time that the search may take from its beginning, or nil for no limit.
    ///   - processorTimeLimit: The processor time that its thread may use from its beginning, or nil for no limit. It
    ///     does not count waits for a processor or a disk, so it tells what a search costs on a busy machine too.
    public init(timeLimit: Duration? = nil, processorTimeLimit: Duration? = nil) {
        self.timeLimit = timeLimit
        self.processorTimeLimit = processorTimeLimit
    }

    /// Ends the search at its next look, after some operations of the database. Any thread.
    public func cancel() {
        cancelled.store(true, ordering: .relaxed)
    }

    /// Starts the clocks, unless they run already, on the thread that searches. The wait for a thread does not count.
    func begin() {
        guard timeLimit != nil || processorTimeLimit != nil else { return }
        beginning.withLock { $0 = $0 ?? Beginning() }
    }

    /// Whether the search has to end now. Only for the thread that called `begin()`.
    var shouldStop: Bool {
        if cancelled.load(ordering: .relaxed) { return true }
        guard let beginning = beginning.withLock({ $0 }) else { return false }
        let time = ContinuousClock.now - beginning.time
        if let timeLimit, time >= timeLimit { return true }
        // The second clock costs a system call. A thread cannot use more of it than of the first one.
        guard let processorTimeLimit, time >= processorTimeLimit else { return false }
        return threadProcessorTime() - beginning.processorTime >= processorTimeLimit
    }

    /// Throws the reason to end the search now, if there is one.
    func check() throws(SearchError) {
        if cancelled.load(ordering: .relaxed) { throw .cancelled }
        if shouldStop { throw .timedOut }
    }
}

/// The processor time of the calling thread: `CLOCK_THREAD_CPUTIME_ID` of clock_gettime(2).
private func threadProcessorTime() -> Duration {
    var time = timespec()
    let result = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    precondition(result == 0, "every Linux has this clock")
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
