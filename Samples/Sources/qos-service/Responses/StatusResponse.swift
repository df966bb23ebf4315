internal import Indexing
internal import QoSRuntime

/// The answer of `/status`. Keys are written in snake case.
struct StatusResponse: Encodable {
    /// The name of the folder, without the folders above it.
    let folder: String
    let databaseBytes: Int64
    let state: IndexActivity
    /// The reason for a pause, or for the failure of the last pass.
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
    /// Entries that the last scan could not read.
    let unreadable: Int
    /// The first hundred files that could not be read, or only in part.
    let problems: [FileProblem]
    /// Files that the current or last scan has seen.
    let scanned: Int
    /// Files read since the start of the service.
    let settled: Int
    /// Files read per second, lately.
    let rate: Double
    let lastPass: PassReport?
    /// The counters and the pending work of the pools.
    let scheduler: SchedulerSnapshot?

    /// Makes the answer.
    ///
    /// - Parameters:
    ///   - status: The index's status.
    ///   - rate: Files per second.
    ///   - showsPaths: Whether to show reason and notice, which name files of this machine.
    init(_ status: IndexStatus, rate: Double, showsPaths: Bool) {
        folder = status.folder.split(separator: "/").last.map(String.init) ?? "/"
        databaseBytes = status.databaseBytes
        state = status.activity
        let secret = "The service's own terminal says more."
        reason = status.pause.map { showsPaths ? $0 : "The index cannot go on. \(secret)" }
        notice = status.notice.map { showsPaths ? $0 : "Something happened to the index. \(secret)" }
        complete = status.isComplete
        files = status.counts.files
        indexed = status.counts.indexed
        pending = status.counts.pending
        skipped = status.counts.skipped
        failed = status.counts.failed
        truncated = status.counts.truncated
        reasons = status.counts.reasons
        unreadable = status.unreadable
        problems = status.problems
        scanned = status.scanned
        settled = status.settled
        self.rate = (rate * 10).rounded() / 10
        lastPass = status.lastPass
        scheduler = schedulerSnapshot()
    }
}
