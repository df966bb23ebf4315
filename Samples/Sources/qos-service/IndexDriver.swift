internal import Indexing

/// Runs pass after pass over the folder.
struct IndexDriver: Sendable {
    let index: SearchIndex
    /// The time between the end of a pass and the start of the next.
    let interval: Duration

    /// Runs until it is cancelled.
    ///
    /// A damaged index is made anew. Any other failure of a pass stands in the status, and the next pass tries again.
    ///
    /// - Throws: `CancellationError`, or `IndexError` when a damaged index cannot be made anew.
    func run() async throws {
        while true {
            do {
                let pass = try index.makePass()
                try await pass.run()
            } catch IndexError.damaged(_, let detail) {
                try index.rebuild(because: detail)
                continue
            } catch is IndexError {
                // The status says why.
            }
            try await Task.sleep(for: interval, tolerance: interval / 10)
        }
    }
}
