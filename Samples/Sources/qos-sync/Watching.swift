internal import FolderWatching
internal import SampleCommand
internal import Sync

/// Syncs again after each change of a folder, and from time to time.
struct Watching {
    let run: SyncRun
    let interval: Duration
    let output: Output
    /// The other side, for people.
    let place: String

    func run() async throws {
        var last: SyncReport?
        var isLost = false
        try await WatchLoop("qos-sync", every: interval).run {
            let report: SyncReport
            do {
                report = try await run.run()
            } catch let error as SyncError {
                guard case .unreachable = error else { throw error }
                // The next look asks again.
                if !isLost { complain("\(error)") }
                isLost = true
                return nil
            }
            if isLost { complain("\(place) answers again.") }
            isLost = false
            let hasWorked = report.copied + report.folders + report.renamed + report.removed + report.described > 0
            // What stays as it is, is said once.
            let isKnown = report.skipped == last?.skipped && report.conflicts == last?.conflicts
            if hasWorked || !isKnown { try output.show(report) }
            last = report
            return run.folders
        }
    }
}
