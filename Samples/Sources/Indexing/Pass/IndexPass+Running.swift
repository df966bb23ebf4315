extension IndexPass {
    /// Runs the pass to its end on the caller's executor. Gives the executor back between the steps.
    ///
    /// Child tasks, which prefer the same executor, read the files.
    ///
    /// A pause is waited out. Cancellation is noticed between two steps.
    ///
    /// - Parameters:
    ///   - limit: The bounds of one step.
    ///   - patience: The length of a pause before the step is tried again.
    /// - Throws: `CancellationError`, or the `IndexError` of a step.
    public func run(limit: BatchLimit = BatchLimit(), patience: Duration = .seconds(5)) async throws {
        while true {
            try Task.checkCancellation()
            let outcome: StepOutcome =
                if case .indexing = phase { try await stepReadingAhead(limit) } else { try step(limit: limit) }
            switch outcome {
            case .progress: await Task.yield()
            case .paused: try await Task.sleep(for: patience)
            case .finished: return
            }
        }
    }
}
