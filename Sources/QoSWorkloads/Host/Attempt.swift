internal import QoSCore
internal import QoSKernel

/// An attempt that a host runs.
///
/// Threading: any thread.
final class Attempt: Sendable {
    struct State: Sendable {
        var task: Task<Void, Never>?
        var level: QoSLevel
        /// Whether the host has reported the end, or has no right to.
        var isOver = false
        var progress: WorkloadProgress?
        /// The monotonic time at which the attempt was cancelled because of its time limit.
        var overrun: Duration?
        /// The monotonic time since when a condition does not hold.
        var unmetSince: Duration?
        /// The monotonic time of the last sign of life: its begin, a checkpoint, a report, or its share of the throttle.
        var lastSign: Duration
        /// The length of the silence that the host has told of.
        var toldSilence: Duration = .zero
        /// The monotonic time from which its time limit counts; `nil` until the work begins.
        var start: Duration?
        /// Whether it has kept a checkpoint that differs from the one with which it began.
        var hasProgressed = false
    }

    let lease: WorkloadLease
    let record: WorkloadRecord
    /// The class whose place it takes.
    let qosClass: QoSClass
    /// The monotonic time of the claim.
    let begin: Duration
    /// The longest duration of the work; `nil` for no limit.
    let timeLimit: Duration?
    let signals = AttemptSignals()
    let state: Lock<State>

    init(_ claim: WorkloadClaim, begin: Duration, timeLimit: Duration?) {
        lease = claim.lease
        record = claim.record
        qosClass = claim.record.level.qosClass
        self.begin = begin
        self.timeLimit = timeLimit
        state = Lock(State(level: claim.record.level, lastSign: begin))
    }

    /// The monotonic time by which the work should end; `nil` without a limit, and before it begins.
    var deadline: Duration? {
        timeLimit.flatMap { limit in state.withLock { $0.start }.map { $0 + limit } }
    }

    /// Notes a sign of life.
    func lives(at now: Duration) {
        state.withLock { state in
            state.lastSign = now
            state.toldSilence = .zero
        }
    }

    /// Asks the attempt to end: by its signals, and by its task.
    func cancel(because reason: String) {
        signals.set(.cancel(reason))
        let task = state.withLock { $0.task }
        task?.cancel()
    }

    /// Takes the right to report the end. Only one caller gets it.
    func takeEnd() -> Bool {
        state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
    }
}

/// An end that the store has not acknowledged.
struct PendingEnd: Sendable {
    let attempt: Attempt
    let end: AttemptEnd
    /// Whether the attempt goes on, and keeps its place, though it ends for the store.
    let keepsPlace: Bool
    /// The monotonic time after which it is of no use: the item has another lease by then.
    let limit: Duration

    init(_ attempt: Attempt, _ result: AttemptResult, keepsPlace: Bool = false, limit: Duration) {
        self.attempt = attempt
        end = AttemptEnd(attempt.lease, result, progress: attempt.state.withLock { $0.progress })
        self.keepsPlace = keepsPlace
        self.limit = limit
    }
}
