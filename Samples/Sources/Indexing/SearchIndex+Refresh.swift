internal import Synchronization
public import TreeScan

extension SearchIndex {
    /// The result of a refresh.
    public struct RefreshReport: Sendable, Hashable {
        /// Whether every file that was in the folder after the call is read, or known to be unreadable.
        public let isComplete: Bool
        /// Files of the folder that are known and wait to be read.
        public let pending: Int
    }

    /// Brings one folder up to date as of this call, before everything else, within a time limit.
    ///
    /// The task's own class does the work. A pass over the whole folder waits between two of its steps meanwhile, and
    /// then goes on. What is not done in time stays pending for it.
    ///
    /// - Parameters:
    ///   - folder: A path below the indexed folder. An ignored folder, and one that is gone, has no files.
    ///   - limit: The time limit. A step of about 50 ms that has begun is finished.
    /// - Throws: `IndexError.folder` if the root is missing or the path is a file; another `IndexError` if the index
    ///   cannot be used; `CancellationError`.
    public func refresh(_ folder: RelativePath, within limit: Duration) async throws -> RefreshReport {
        let deadline = ContinuousClock.now + limit
        guard await turns.take(until: deadline) else {
            try Task.checkCancellation()
            return RefreshReport(isComplete: false, pending: status.counts.pending)
        }
        // The results of reading ahead may be older than this refresh.
        defer {
            refreshes.wrappingAdd(1, ordering: .sequentiallyConsistent)
            turns.give()
        }
        do {
            let pass = try IndexPass(self, at: folder, pool: pool())
            while ContinuousClock.now < deadline {
                try Task.checkCancellation()
                switch try await pass.stepInFolder(BatchLimit()) {
                case .progress: await Task.yield()
                case .finished: return RefreshReport(isComplete: true, pending: 0)
                case .paused: return RefreshReport(isComplete: false, pending: max(1, pass.wanted.count))
                }
            }
            return RefreshReport(isComplete: false, pending: max(1, pass.wanted.count))
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Self.translate(error, files)
        }
    }
}
