internal import Indexing
internal import QoSRuntime

/// The answer of `/status`; keys are written in snake case.
struct StatusResponse: Encodable {
    let folder: String
    let database: String
    let databaseBytes: Int64
    let state: IndexActivity
    /// Why nothing goes on, or why the last pass failed.
    let reason: String?
    let notice: String?
    let complete: Bool
    let files: Int
    let indexed: Int
    let pending: Int
    let skipped: Int
    let failed: Int
    let truncated: Int
    let reasons: [String: Int]
    /// Files that the current or last scan has seen.
    let scanned: Int
    /// Files read since the start of the service.
    let settled: Int
    /// Files read per second, lately.
    let rate: Double
    let lastPass: PassReport?
    /// What the pools of the classes did and have to do.
    let scheduler: SchedulerSnapshot?

    init(_ status: IndexStatus, rate: Double) {
        folder = status.folder
        database = status.database
        databaseBytes = status.databaseBytes
        state = status.activity
        reason = status.pause
        notice = status.notice
        complete = status.isComplete
        files = status.counts.files
        indexed = status.counts.indexed
        pending = status.counts.pending
        skipped = status.counts.skipped
        failed = status.counts.failed
        truncated = status.counts.truncated
        reasons = status.counts.reasons
        scanned = status.scanned
        settled = status.settled
        self.rate = (rate * 10).rounded() / 10
        lastPass = status.lastPass
        scheduler = schedulerSnapshot()
    }
}
