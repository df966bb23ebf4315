internal import Indexing
internal import QoSCore
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
    /// The state of the machine and of the searches, with reasons; nil if nothing is governed, or paths are hidden.
    let conditions: SystemConditions?
    /// The limits of each class, with reasons; nil like `conditions`.
    let decision: GovernorDecision?
    /// The limits of the indexing in words; nil without a limit.
    let limit: String?
    /// The counters and the pending work of the pools.
    let scheduler: SchedulerSnapshot?

    /// Makes the answer.
    ///
    /// - Parameters:
    ///   - status: The index's status.
    ///   - rate: Files per second.
    ///   - showsPaths: Whether to show reason and notice, which name files of this machine.
    ///   - governor: The governor of the indexing, if there is one.
    ///   - workloads: The state of the workloads.
    init(
        _ status: IndexStatus,
        rate: Double,
        showsPaths: Bool,
        governor: ServiceGovernor? = nil,
        workloads: ServiceWorkloads.Report = ServiceWorkloads.Report()
    ) {
        folder = status.folder.split(separator: "/").last.map(String.init) ?? "/"
        databaseBytes = status.databaseBytes
        // A pass that is not due matters to nobody.
        let isAtWork = !(status.activity == .idle && status.hasScanned)
        let pause = isAtWork ? workloads.pause : nil
        state = pause == nil ? status.activity : .paused
        let secret = "The service's own terminal says more."
        let obstacle = status.pause.map { showsPaths ? $0 : "The index cannot go on. \(secret)" }
        let rest = pause.map {
            "Indexing pauses and goes on by itself\(showsPaths ? ": \($0)." : ", to spare the machine.")"
        }
        reason = obstacle ?? rest
        conditions = showsPaths ? governor?.monitor.conditions : nil
        decision = showsPaths ? governor?.monitor.decision : nil
        limit = showsPaths ? governor?.limit : nil
        let event = status.notice.map { showsPaths ? $0 : "Something happened to the index. \(secret)" }
        let sync = workloads.syncTrouble.map {
            "The sync does not go on\(showsPaths ? ": \($0)" : ".") The service tries again by itself."
        }
        let notices = [event, workloads.trouble, sync].compactMap(\.self)
        notice = notices.isEmpty ? nil : notices.joined(separator: " ")
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
