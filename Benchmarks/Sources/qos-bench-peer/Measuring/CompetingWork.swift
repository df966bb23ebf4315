/// Low work that runs beside the jobs that are measured, until it is stopped.
protocol CompetingWork: Sendable {
    /// Processor nanoseconds used so far.
    func used() -> Int

    /// Asks it to end.
    func stop()
}
