import QoSCore

/// Worlds and their runs as lines of text, one line per class and one column per millisecond.
///
/// In a world, a digit is a job of so many milliseconds that arrives at the start of the column. In a run, a digit is
/// how many workers of the class have a core in the middle of the column, `.` is a class that has work and no core, and
/// `-` is nothing.
enum Timeline {
    static let column: Int64 = 1_000_000

    /// The world of some lines, with events of other kinds beside the jobs.
    static func world(
        _ lines: String, cores: Int, parameters: SchedulingParameters = SchedulingParameters(),
        besides others: [ScriptEvent] = []
    ) throws -> SimulatedWorld {
        var script = others
        for line in lines.split(separator: "\n") {
            let (qosClass, marks) = try parse(line)
            for (index, mark) in marks.enumerated() where mark != "-" {
                guard let milliseconds = mark.wholeNumberValue else { throw TimelineError.unknownMark(mark) }
                script.append(
                    ScriptEvent(
                        at: Int64(index) * column, kind: .arrive(qosClass, length: Int64(milliseconds) * column)))
            }
        }
        script.sort { $0.at < $1.at }
        return SimulatedWorld(cores: cores, ownParameters: parameters, wakeDelay: 0, script: script)
    }

    /// What happens in a world, for the classes of the given lines and as many columns as they have.
    static func run(_ world: SimulatedWorld, like lines: String) throws -> String {
        let rows = try lines.split(separator: "\n").map(parse)
        let columns = rows.map(\.marks.count).max() ?? 0
        var texts = rows.map { "\($0.qosClass.abbreviation): " }
        var simulation = AdmissionSimulation(world)
        for index in 0..<columns {
            try simulation.run(until: Int64(index) * column + column / 2)
            for (row, line) in rows.enumerated() {
                let running = simulation.workers.count { $0.home == line.qosClass && $0.hasCore }
                let wants = simulation.hasCurrentWork(line.qosClass)
                texts[row] += running > 0 ? String(running) : wants ? "." : "-"
            }
        }
        return texts.joined(separator: "\n")
    }

    private static func parse(_ line: Substring) throws -> (qosClass: QoSClass, marks: Substring) {
        let parts = line.split(separator: ":")
        guard
            parts.count == 2, parts[1].first == " ",
            let qosClass = QoSClass.allCases.first(where: { $0.abbreviation == parts[0] })
        else { throw TimelineError.malformedLine(String(line)) }
        return (qosClass, parts[1].dropFirst())
    }
}

/// A line that is no timeline: write `ui: 1--2`, digits and dashes after the abbreviation of a class.
enum TimelineError: Error, Equatable {
    case malformedLine(String)
    case unknownMark(Character)
}
