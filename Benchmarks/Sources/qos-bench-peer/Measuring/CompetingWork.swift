/// Low work beside the measured jobs, until it is stopped.
protocol CompetingWork: Sendable {
    /// Processor nanoseconds used so far.
    func used() -> Int

    /// Asks it to end.
    func stop()
}
