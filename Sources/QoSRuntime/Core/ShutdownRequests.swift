import QoSEventLoop

/// Who waits for a scheduler's end, and how it ended.
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

    /// Somebody asks for the end and waits for it.
    ///
    /// - Returns: the report when the end has come already; the continuation is then not kept.
    mutating func request(
        deadline: UInt64, _ continuation: CheckedContinuation<ShutdownReport, Never>?
    ) -> ShutdownReport? {
        if hasEnded { return report }
        requestedDeadline = min(requestedDeadline ?? .max, deadline)
        if let continuation { waiting.append(continuation) }
        return nil
    }

    /// The loop's thread takes note of a request.
    mutating func takeRequest() -> UInt64? {
        requestedDeadline.take()
    }

    /// The end has come.
    mutating func end() -> Ended {
        hasEnded = true
        defer { waiting = [] }
        return Ended(report: report, waiting: waiting)
    }

    /// Those who waited, to be resumed outside of the lock.
    struct Ended {
        let report: ShutdownReport
        let waiting: [CheckedContinuation<ShutdownReport, Never>]

        func resume() {
            for continuation in waiting { continuation.resume(returning: report) }
        }
    }
}
