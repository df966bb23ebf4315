/// The life of an item: its state, and all that its transitions depend on. A value; events have the past tense.
///
/// An event that does not fit the state changes nothing, and says so.
public struct WorkloadLife: Sendable, Hashable, Codable {
    /// The state.
    public private(set) var state = WorkloadState.scheduled
    /// The reason of the state, for people.
    public private(set) var reason: String
    /// The time since when the item has this state.
    public private(set) var since: WallTime
    /// The number of attempts of this run, the running one included.
    public private(set) var attempts = 0
    /// The number of the last lease.
    public private(set) var fence: UInt64 = 0
    /// The number of renewals of the last lease.
    public private(set) var beat: UInt64 = 0
    /// The name of the host that has the lease; `nil` without one.
    public private(set) var host: String?
    /// The process of the host that has the lease; `nil` without one, or if the host named none.
    public private(set) var process: String?
    /// The reason of a cancellation that the running attempt has not answered yet.
    public private(set) var cancellation: String?
    /// The error of the last failed attempt. It stays until a run succeeds.
    public private(set) var lastError: String?
    /// The number of runs that succeeded.
    public private(set) var finishedRuns = 0
    /// The number of runs that used up their attempts.
    public private(set) var failedRuns = 0
    /// The number of attempts of this run that ended with their process, since its last new checkpoint.
    ///
    /// Such an item is a suspect: it may be what ends its processes. A host runs it alone.
    public private(set) var crashes = 0
    /// The number of times that this run has deferred itself, since its last new checkpoint.
    public private(set) var deferrals = 0
    /// Whether the last attempt has kept a new checkpoint.
    public private(set) var hasProgressed = false

    package init(insertedAt now: WallTime) {
        since = now
        reason = "inserted"
    }

    /// The parts of a life that a store keeps in columns of their own.
    package struct Parts: Sendable, Hashable {
        package var state: WorkloadState
        package var reason: String
        package var since: WallTime
        package var attempts: Int
        package var fence: UInt64
        package var beat: UInt64
        package var host: String?
        package var process: String?
        package var cancellation: String?
        package var lastError: String?
        package var finishedRuns: Int
        package var failedRuns: Int
        package var crashes = 0
        package var deferrals = 0
        package var hasProgressed = false

        package init(state: WorkloadState, reason: String, since: WallTime) {
            (self.state, self.reason, self.since) = (state, reason, since)
            (attempts, fence, beat, finishedRuns, failedRuns) = (0, 0, 0, 0, 0)
        }
    }

    /// Makes the life that a store has kept.
    package init(_ parts: Parts) {
        (state, reason, since) = (parts.state, parts.reason, parts.since)
        (attempts, fence, beat) = (parts.attempts, parts.fence, parts.beat)
        (host, process) = (parts.host, parts.process)
        (cancellation, lastError) = (parts.cancellation, parts.lastError)
        (finishedRuns, failedRuns) = (parts.finishedRuns, parts.failedRuns)
        (crashes, deferrals, hasProgressed) = (parts.crashes, parts.deferrals, parts.hasProgressed)
    }

    /// A reason to wait, from the first one that applies to the last.
    package enum Wait: Sendable, Hashable {
        case time(String)
        case parents(String)
        case deferral(String)
        case host(String)

        fileprivate var state: WorkloadState {
            switch self {
            case .time: .scheduled
            case .parents: .blocked
            case .deferral: .deferred
            case .host: .ready
            }
        }

        fileprivate var reason: String {
            switch self {
            case .time(let reason), .parents(let reason), .deferral(let reason), .host(let reason): reason
            }
        }
    }

    /// Whether this fence is that of the valid lease.
    package func isHeld(under fence: UInt64) -> Bool { state == .running && self.fence == fence }

    /// Notes what a waiting item waits for.
    ///
    /// - Returns: whether it waits at all.
    @discardableResult
    package mutating func waitChanged(to wait: Wait, at now: WallTime) -> Bool {
        guard state.isWaiting else { return false }
        become(wait.state, wait.reason, at: now)
        return true
    }

    /// Notes that a host takes a ready item.
    ///
    /// - Returns: the fence of the new lease; `nil` unless the item is ready.
    package mutating func claimed(by host: String, in process: String?, at now: WallTime) -> UInt64? {
        guard state == .ready else { return nil }
        fence += 1
        beat = 0
        attempts += 1
        hasProgressed = false
        self.host = host
        self.process = process
        become(.running, "attempt \(attempts) at \(host)", at: now)
        return fence
    }

    /// Notes a renewal.
    ///
    /// - Returns: whether the lease is valid.
    package mutating func renewed(under fence: UInt64) -> Bool {
        guard isHeld(under: fence) else { return false }
        beat += 1
        return true
    }

    /// Notes a remark about the running attempt.
    ///
    /// - Returns: whether the lease is valid.
    package mutating func noted(_ remark: String, under fence: UInt64) -> Bool {
        guard isHeld(under: fence) else { return false }
        reason = Self.capped("attempt \(attempts) at \(host ?? ""): \(remark)", to: Self.reasonLimit)
        return true
    }

    /// Notes that the running attempt has kept a checkpoint that differs from the last one.
    package mutating func progressed() {
        hasProgressed = true
        crashes = 0
        deferrals = 0
    }

    /// The place of an item after an attempt.
    package enum Ending: Sendable, Hashable {
        /// It has finished, or waits for its next run.
        case runFinished(repeats: Bool)
        /// The run goes on later, after a delay.
        case waits(Duration?)
        /// The attempts are used up. It is dead, or waits for its next run.
        case runFailed(repeats: Bool)
        /// It was cancelled.
        case cancelled
    }

    /// Notes the end of an attempt. An item that goes on is scheduled until the owner says what it waits for.
    ///
    /// - Returns: `nil` if the lease is not valid.
    package mutating func attemptEnded(
        under fence: UInt64, _ result: AttemptResult, retry: RetryPolicy, repeats: Bool, seed: UInt64, at now: WallTime
    ) -> Ending? {
        guard isHeld(under: fence) else { return nil }
        host = nil
        process = nil
        if case .finished = result {
            // The run was asked to end and has finished: there are no further ones.
            let stop = repeats ? cancellation : nil
            cancellation = nil
            lastError = nil
            runEnded()
            finishedRuns += 1
            if let stop {
                become(.cancelled, stop, at: now)
                return .runFinished(repeats: false)
            }
            become(repeats ? .scheduled : .finished, "finished", at: now)
            return .runFinished(repeats: repeats)
        }
        if case .failed(let error, _) = result { lastError = Self.capped(error, to: Self.errorLimit) }
        if let cancellation {
            become(.cancelled, cancellation, at: now)
            self.cancellation = nil
            return .cancelled
        }
        switch result {
        case .finished: return nil
        case .deferred(let reason, let delay):
            attempts -= 1
            // Without a delay it was the host that asked for it.
            if delay != nil { deferrals += 1 }
            become(.scheduled, reason, at: now)
            return .waits(delay)
        case .failed(let error, let delay):
            // The whole error is in `lastError`.
            let reason = "attempt \(attempts) failed: \(Self.capped(error, to: Self.remarkLimit))"
            guard attempts < retry.maximumAttempts else {
                failedRuns += 1
                become(repeats ? .scheduled : .dead, reason, at: now)
                if repeats { runEnded() }
                return .runFailed(repeats: repeats)
            }
            become(.scheduled, reason, at: now)
            return .waits(delay ?? retry.delay(afterAttempt: attempts, seed: seed))
        }
    }

    private mutating func runEnded() {
        (attempts, crashes, deferrals) = (0, 0, 0)
    }

    /// Notes that the holder of a lease has lost it.
    ///
    /// The end of a process is seldom the fault of the item. So a first attempt that ends with its process is repeated
    /// at once. Later ones wait for the delay of a retry: the item may be what ends its processes. An attempt that has
    /// kept a new checkpoint does not count: each crash then costs a piece of the work, and no attempt.
    ///
    /// - Returns: `nil` if the lease is not valid, or was renewed since.
    package mutating func leaseLost(
        under fence: UInt64, beat: UInt64, because loss: LeaseLoss, retry: RetryPolicy, repeats: Bool, seed: UInt64,
        at now: WallTime
    ) -> Ending? {
        guard isHeld(under: fence), self.beat == beat else { return nil }
        let host = host ?? ""
        guard loss == .processEnded else {
            let result = AttemptResult.failed(error: "the host \(host) stopped renewing its lease", delay: nil)
            return attemptEnded(under: fence, result, retry: retry, repeats: repeats, seed: seed, at: now)
        }
        let error = "the process of the host \(host) ended"
        let isGivenBack = hasProgressed && cancellation == nil
        crashes += 1
        guard isGivenBack else {
            let result = AttemptResult.failed(error: error, delay: attempts == 1 ? .zero : nil)
            return attemptEnded(under: fence, result, retry: retry, repeats: repeats, seed: seed, at: now)
        }
        self.host = nil
        process = nil
        lastError = error
        become(.scheduled, "attempt \(attempts) failed after a new checkpoint: \(error)", at: now)
        attempts -= 1
        return .waits(.zero)
    }

    /// The entry of the history for an attempt that ends now without success; `nil` for any other end.
    package func history(of result: AttemptResult, at now: WallTime) -> WorkloadAttempt? {
        guard state == .running, case .failed(let error, _) = result else { return nil }
        return WorkloadAttempt(
            fence: fence, number: attempts, host: host ?? "", began: since, ended: now,
            error: Self.capped(error, to: WorkloadAttempt.errorLimit))
    }

    /// The same for an attempt whose lease is lost now.
    package func history(of loss: LeaseLoss, at now: WallTime) -> WorkloadAttempt? {
        let error = loss == .processEnded ? "its process ended" : "its host stopped renewing the lease"
        return history(of: .failed(error: error, delay: nil), at: now)
    }

    // MARK: Long texts

    /// The longest error that an item keeps, in bytes.
    static let errorLimit = 4096
    /// The longest reason.
    static let reasonLimit = 1024
    /// The longest part of an error that a reason repeats.
    static let remarkLimit = 256

    /// Returns a text of a limited length, which says how much is missing.
    static func capped(_ text: String, to limit: Int) -> String {
        let length = text.utf8.count
        guard length > limit else { return text }
        var end = text.utf8.index(text.utf8.startIndex, offsetBy: limit)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return "\(text[..<end])… (\(length) bytes in all)"
    }

    /// The effect of a cancellation.
    package enum Cancellation: Sendable, Hashable {
        /// The item has ended.
        case ended
        /// The running attempt is asked to end.
        case requested
        /// The item had ended before.
        case tooLate
    }

    /// Notes a cancellation. Of several, the first reason stays.
    package mutating func cancelled(because reason: String, at now: WallTime) -> Cancellation {
        if state.isEnded { return .tooLate }
        guard state == .running else {
            become(.cancelled, reason, at: now)
            return .ended
        }
        cancellation = cancellation ?? Self.capped(reason, to: Self.reasonLimit)
        return .requested
    }

    /// Notes that a dead item gets its attempts back.
    ///
    /// - Returns: whether it was dead.
    package mutating func revived(at now: WallTime) -> Bool {
        guard state == .dead else { return false }
        runEnded()
        become(.scheduled, "revived", at: now)
        return true
    }

    /// Notes that the parent because of which the item was cancelled is revived.
    ///
    /// - Returns: whether it was cancelled.
    package mutating func revivedWithParent(at now: WallTime) -> Bool {
        guard state == .cancelled else { return false }
        runEnded()
        become(.scheduled, "revived with an item that it depends on", at: now)
        return true
    }

    /// The life of a ready item as seen through a closed gate or a paused workload.
    package func deferred(because reason: String, since closed: WallTime) -> WorkloadLife {
        guard state == .ready else { return self }
        var life = self
        life.become(.deferred, reason, at: max(since, closed))
        return life
    }

    private mutating func become(_ new: WorkloadState, _ reason: String, at now: WallTime) {
        if state != new { since = now }
        state = new
        self.reason = Self.capped(reason, to: Self.reasonLimit)
    }
}
