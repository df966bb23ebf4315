internal import Indexing

/// Runs one pass over the folder after another.
struct IndexDriver: Sendable {
    let index: SearchIndex
    /// The time between the end of a pass and the start of the next.
    let interval: Duration

    /// Runs until it is cancelled.
    ///
    /// An index that is damaged, or whose files were removed, is made anew. After any other failure of a pass the
    /// status shows the reason, and the next pass tries again.
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
            } catch IndexError.lost {
                try index.rebuild(because: "its files are gone")
                continue
            } catch is IndexError {
                // The status shows the reason.
            }
            try await rest()
        }
    }

    /// Waits until the next pass is due: until the interval is over, or the index has to be made anew.
    private func rest() async throws {
        let end = ContinuousClock.now + interval
        while ContinuousClock.now < end, !index.needsRebuild {
            let pause = min(.seconds(1), end - .now)
            try await Task.sleep(for: pause, tolerance: pause / 5)
        }
    }
}
