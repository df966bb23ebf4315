internal import Indexing
internal import SampleCommand

/// Brings the index of one folder up to date.
enum Filling {
    /// Runs a pass to its end. An index that turns out to be damaged, or whose files are gone, is made anew.
    static func run(_ index: SearchIndex) async throws -> IndexPass {
        while true {
            do {
                let pass = try index.makePass()
                var told: String?
                try await pass.run { _ in
                    // Each obstacle is said once.
                    guard let pause = index.status.pause, pause != told else { return }
                    told = pause
                    complain(pause)
                }
                return pass
            } catch IndexError.damaged(_, let detail) {
                try index.rebuild(because: detail)
            } catch IndexError.lost {
                try index.rebuild(because: "its files are gone")
            }
        }
    }

    /// Says what a pass did. Returns whether the index has all of the folder.
    static func report(_ index: SearchIndex, _ pass: PassReport) -> Bool {
        let status = index.status
        if let notice = status.notice { complain(notice) }
        for problem in status.ignoreProblems { complain("\(problem.path): \(problem.detail)") }
        for problem in status.problems where problem.reason != "truncated" {
            complain("Not read: \(problem.path): \(problem.detail.isEmpty ? problem.reason : problem.detail)")
        }
        for example in pass.unreadableExamples { complain("Not read: \(example)") }
        say(
            "\(status.folder): \(status.counts.indexed) files indexed, \(status.counts.skipped) skipped, "
                + "\(status.counts.failed) not read; \(pass.settled) read now, \(pass.removed) removed; "
                + "\(size(status.databaseBytes)).")
        return status.counts.unread == 0 && status.unreadable == 0
    }
}
