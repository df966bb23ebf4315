package import QoSCore
package import QoSTesting

// Worlds as timelines: a digit is a job of so many columns that arrives at the start of its column.

extension SimulatedWorld {
    /// The default width of a column in nanoseconds: a millisecond.
    package static let column: Int64 = 1_000_000

    /// The world of a timeline of jobs, with events of other kinds beside them.
    ///
    /// - Parameters:
    ///   - lines: A timeline whose rows are classes and whose marks are digits.
    ///   - cores: At least 1.
    ///   - parameters: The constants by class.
    ///   - others: Other events, in any order.
    /// - Throws: ``TimelineError`` when the text is none or has other marks.
    package init(
        _ lines: String, cores: Int, parameters: SchedulingParameters = SchedulingParameters(),
        besides others: [ScriptEvent] = []
    ) throws(TimelineError) {
        var script = others
        for job in try SimulatedJob.jobs(Timeline(lines), column: .nanoseconds(Self.column)) {
            script.append(job.event)
        }
        script.sort { $0.at < $1.at }
        self.init(cores: cores, ownParameters: parameters, wakeDelay: 0, script: script)
    }

    /// Returns the world's events in the rows and columns of a timeline.
    ///
    /// - Throws: ``SimulationViolation`` when the run breaks a rule, ``TimelineError`` when the text is no timeline.
    package func run(like lines: String, judgedBy judge: (any AdmissionJudge)? = nil) throws -> Timeline {
        let wanted = try Timeline(lines)
        let columns = lines.split(separator: "\n").map { $0.drop { $0 != ":" }.count - 2 }.max() ?? 0
        var simulation = AdmissionSimulation(self, judgedBy: judge)
        simulation.recorder = .ofClasses
        try simulation.run(until: Int64(columns) * Self.column)
        let run = simulation.recorder?.timeline(column: Self.column, columns: columns)
        return run.map { $0.rows(like: wanted) } ?? wanted
    }
}
