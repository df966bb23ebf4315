import ArgumentParser
import Foundation
import QoSCore
import QoSKernel

/// The options of the commands that print conditions.
struct ConditionsOptions: ParsableArguments {
    @Flag(help: "Print JSON instead of text.")
    var json = false

    @Option(help: "A file or directory on a file system whose space counts; can be repeated.")
    var path: [String] = ["/"]

    @Option(help: "A folder that stands for /, with proc and sys in it: a made tree, to try things out.")
    var root = "/"

    func validate() throws {
        // The dot follows a link.
        guard LinuxFileCalls().status(of: "\(root)/.").status.kind == .directory else {
            throw ValidationError("\(root) is no directory: name one that has proc and sys in it")
        }
    }

    /// Prints the conditions and the recommended decision.
    ///
    /// - Parameter states: the states that take the place of observed ones.
    func printReport(simulating states: [SimulatedState]) throws {
        var overrides = ConditionOverrides()
        for state in states { state.apply(to: &overrides) }
        let report = ConditionsReport(
            conditions: overrides.applied(to: observe()), policy: RecommendedPolicy())
        guard json else { return try StandardOutput.write(report.lines.joined(separator: "\n")) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardOutput.write(String(decoding: try encoder.encode(report), as: UTF8.self))
    }

    /// The time between the two readings.
    private static let interval: TimeInterval = 0.6

    /// Reads the machine twice: rates are those between the readings. States that would have to last count at once.
    private func observe() -> SystemConditions {
        var machine = ConditionMachine(isSnapshot: true)
        let reader = PatientSystemReader(root: FileRoot(root), paths: path)
        defer { reader.end() }
        func now() -> SchedulerInstant {
            SchedulerInstant(nanoseconds: Int64(clamping: MonotonicClock.nanoseconds()))
        }
        _ = machine.observe(reader.read(), at: now())
        Thread.sleep(forTimeInterval: Self.interval)
        var conditions = machine.observe(reader.read(), at: now())
        conditions.foreground = Condition(
            .nominal, because: "only a program knows the latency of its requests", isKnown: false)
        return conditions
    }
}
