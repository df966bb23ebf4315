internal import FolderWatching
internal import SampleCommand
internal import Sync

/// Syncs again after each change of a folder, and from time to time.
///
/// A side may go away: an agent that stops, a disk that is pulled out, a server that is not reached. Then the folders
/// are closed, and opened again at each look until it is back. Only the first look ends the command.
struct Watching {
    let open: () throws -> SyncRun
    let interval: Duration
    let output: Output
    let progress: ProgressLine
    /// The other side, for people.
    let place: String

    func run() async throws {
        var run: SyncRun?
        var last: SyncReport?
        var hasRun = false
        var loss: String?
        var isAgent = false
        try await WatchLoop("qos-sync", every: interval).run {
            let report: SyncReport
            do {
                let current = try run ?? open()
                run = current
                report = try await current.run(breathe: {
                    progress.show { "\(current.steps) of \(current.total) done" }
                })
                progress.clear()
            } catch let error where SyncError.isAway(error) {
                progress.clear()
                if case SyncError.unreachable = error { isAgent = true } else { isAgent = false }
                guard hasRun || isAgent else { throw error }
                // An open folder would keep a disk from being taken out, and would not be the one that comes back.
                if !isAgent { run = nil }
                // The next look asks again.
                if loss != "\(error)" { complain("Waiting: \(error)") }
                loss = "\(error)"
                return isAgent ? nil : []
            }
            if loss != nil { complain(isAgent ? "\(place) answers again." : "Both folders are there again.") }
            loss = nil
            hasRun = true
            let hasWorked = report.copied + report.folders + report.renamed + report.removed + report.described > 0
            // What stays as it is, is said once.
            let isKnown = report.skipped == last?.skipped && report.conflicts == last?.conflicts
            if hasWorked || !isKnown { try output.show(report) }
            last = report
            return run?.folders
        }
    }
}
