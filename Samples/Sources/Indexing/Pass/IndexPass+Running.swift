extension IndexPass {
    /// Runs the pass to its end on the caller's executor. Gives the executor back between the steps.
    ///
    /// Child tasks, which prefer the same executor, read the files.
    ///
    /// A pause is waited out. Cancellation is noticed between two steps, and ends running conversions. A step takes
    /// about 50 ms, or as long as a conversion. `conversions` ends those.
    ///
    /// - Parameters:
    ///   - limit: The bounds of one step.
    ///   - patience: The length of a pause before the step is tried again.
    ///   - breathe: Runs before each step. It may suspend, and an error ends the run.
    /// - Throws: `CancellationError`, the `IndexError` of a step, or the error of `breathe`.
    public func run(
        limit: BatchLimit = BatchLimit(),
        patience: Duration = .seconds(5),
        breathe: (IndexPass) async throws -> Void = { _ in }
    ) async throws {
        while true {
            try Task.checkCancellation()
            // Before the breath: a stop that comes after it counts.
            conversions.allow()
            try await breathe(self)
            let outcome: StepOutcome =
                if case .indexing = phase { try await stepReadingAhead(limit) } else { try await stepWhenFree(limit) }
            switch outcome {
            case .progress: await Task.yield()
            case .paused: try await Task.sleep(for: patience)
            case .finished: return
            }
        }
    }
}
