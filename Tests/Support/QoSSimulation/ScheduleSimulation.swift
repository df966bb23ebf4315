import QoSCore
package import QoSTesting

/// A simulation of the scheduler with some jobs, in virtual time.
///
/// Nothing runs and nothing waits. The same jobs always give the same result.
///
/// The decisions are those of the real scheduler, made by the same value. The kernel is a crude model: the workers of
/// the highest classes get the cores.
///
/// ```swift
/// let simulation = ScheduleSimulation(
///     cores: 1,
///     jobs: [
///         SimulatedJob(.background, arrival: .zero, length: .milliseconds(4)),
///         SimulatedJob(.userInteractive, arrival: .milliseconds(2), length: .milliseconds(2)),
///     ])
/// try simulation.run().timeline().require("""
///     ui: --11
///     bg: 11..11
///     """)
/// ```
///
/// A second of two saturated cores takes some milliseconds; a million jobs take about a second.
package struct ScheduleSimulation: Sendable {
    /// The number of cores; at least 1.
    package var cores: Int

    /// The jobs, in any order.
    package var jobs: [SimulatedJob]

    /// Makes a simulation of some jobs.
    package init(cores: Int = 2, jobs: [SimulatedJob]) {
        self.cores = cores
        self.jobs = jobs
    }

    /// Makes a simulation of the jobs of a timeline. A digit is a job of that many columns, from its column on.
    ///
    /// - Throws: ``TimelineError`` for a row that is no class, and for a mark that is neither a digit nor `-`.
    package init(
        cores: Int = 2, _ timeline: String, column: Duration = .milliseconds(1)
    ) throws(TimelineError) {
        self.init(cores: cores, jobs: try SimulatedJob.jobs(Timeline(timeline), column: column))
    }

    /// Runs all jobs to their end.
    ///
    /// - Complexity: O(jobs · (log jobs + cores)).
    ///
    /// - Parameter seed: Orders jobs that arrive at the same time, in another way for each seed. `nil` keeps the
    ///   order of the list.
    /// - Throws: ``SimulationViolation`` when the run breaks a rule of the scheduler. That is a bug of the scheduler.
    package func run(seed: UInt64? = nil) throws(SimulationViolation) -> ScheduleReport {
        var order = Array(jobs.indices)
        if let seed {
            var random = SeededGenerator(seed: seed)
            order.shuffle(using: &random)
        }
        // The place decides among equals: the library's sort is stable, but does not promise it.
        let places = order.enumerated().map { (place: $0.offset, job: $0.element) }
            .sorted { (jobs[$0.job].arrival, $0.place) < (jobs[$1.job].arrival, $1.place) }
        let world = SimulatedWorld(
            cores: max(1, cores), ownParameters: SchedulingParameters(), wakeDelay: 0,
            script: places.map { jobs[$0.job].event })
        var simulation = AdmissionSimulation(world)
        simulation.outcomes = Array(repeating: (nil, nil), count: jobs.count)
        simulation.recorder = .ofClasses
        try simulation.runToEnd()
        return ScheduleReport(simulation, jobs: places.map { jobs[$0.job] })
    }
}
