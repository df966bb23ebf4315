import QoSEventLoop

/// The callers that wait for a scheduler's end, and its outcome.
struct ShutdownRequests {
    private var requestedDeadline: UInt64?
    private var waiting: [CheckedContinuation<ShutdownReport, Never>] = []
    private var hasEnded = false

    var loopError: EventLoopError?
    var abandonedWorkers: [String] = []
    var continuingWorkers: [String] = []

    private var report: ShutdownReport {
        ShutdownReport(
            abandonedWorkers: abandonedWorkers, continuingWorkers: continuingWorkers,
            loopFailure: loopError.map { "\($0)" })
    }

    /// Adds a request for the end by a caller that waits for it.
    ///
    /// - Returns: the report if the end has already come; the continuation is then not kept.
    mutating func request(
        deadline: UInt64, _ continuation: CheckedContinuation<ShutdownReport, Never>?
    ) -> ShutdownReport? {
        if hasEnded { return report }
        requestedDeadline = min(requestedDeadline ?? .max, deadline)
        if let continuation { waiting.append(continuation) }
        return nil
    }

    /// Takes the deadline of a request. The loop's thread.
    mutating func takeRequest() -> UInt64? {
        requestedDeadline.take()
    }

    /// Marks the scheduler as ended.
    mutating func end() -> Ended {
        hasEnded = true
        defer { waiting = [] }
        return Ended(report: report, waiting: waiting)
    }

    /// The waiting callers, to be resumed outside of the lock.
    struct Ended {
        let report: ShutdownReport
        let waiting: [CheckedContinuation<ShutdownReport, Never>]

        func resume() {
            for continuation in waiting { continuation.resume(returning: report) }
        }
    }
}
