internal import QoSCore
internal import QoSRuntime
internal import SampleCommand
internal import Sync

/// Syncs again after each change of a folder, and from time to time.
struct Watching {
    /// Changes of this time are taken together.
    private static let rest = Duration.milliseconds(500)

    let run: SyncRun
    let interval: Duration
    let output: Output

    func run() async throws {
        let (changes, feed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let interval = interval
        let clock = Task {
            while (try? await Task.sleep(for: interval, tolerance: .seconds(1))) != nil { feed.yield() }
        }
        defer { clock.cancel() }
        let queue = QoSProcess.scheduler?.makeQueue("qos-sync", level: .background)
        var watches = FolderWatches(on: queue) { feed.yield() }
        var last: SyncReport?
        var isLost = false
        feed.yield()
        for await _ in changes {
            try Task.checkCancellation()
            if last != nil { try await Task.sleep(for: Self.rest) }
            let report: SyncReport
            do {
                report = try await run.run()
            } catch let error as SyncError {
                guard case .unreachable = error else { throw error }
                // The next look asks again.
                if !isLost { complain("\(error)") }
                isLost = true
                continue
            }
            isLost = false
            let hasWorked = report.copied + report.folders + report.renamed + report.removed + report.described > 0
            // What stays as it is, is said once.
            let isKnown = report.skipped == last?.skipped && report.conflicts == last?.conflicts
            if hasWorked || !isKnown { try output.show(report) }
            last = report
            await watches.watch(run.folders)
        }
    }
}
