internal import Synchronization

/// The means to end a search early: a time limit, and a cancellation from any thread.
public final class SearchControl: Sendable {
    private let timeLimit: Duration?
    /// The moment at which the search is given up; nil before its beginning, and without a limit.
    private let deadline = Mutex<ContinuousClock.Instant?>(nil)
    private let cancelled = Atomic(false)

    /// Makes a control for one search.
    ///
    /// - Parameter timeLimit: The time that the search may take from its beginning, or nil for no limit.
    public init(timeLimit: Duration? = nil) {
        self.timeLimit = timeLimit
    }

    /// Ends the search at its next look, after some operations of the database. Any thread.
    public func cancel() {
        cancelled.store(true, ordering: .relaxed)
    }

    /// Starts the clock, unless it runs already. The wait for a thread does not count.
    func begin() {
        guard let timeLimit else { return }
        deadline.withLock { $0 = $0 ?? .now + timeLimit }
    }

    /// Whether the search has to end now.
    var shouldStop: Bool {
        if cancelled.load(ordering: .relaxed) { return true }
        guard timeLimit != nil, let deadline = deadline.withLock({ $0 }) else { return false }
        return ContinuousClock.now >= deadline
    }

    /// Throws the reason to end the search now, if there is one.
    func check() throws(SearchError) {
        if cancelled.load(ordering: .relaxed) { throw .cancelled }
        if shouldStop { throw .timedOut }
    }
}
