import ArgumentParser
import Foundation
import QoSCore
import QoSKernel

/// `qosctl conditions`: prints the state of this machine and the recommended decision.
struct Conditions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the state of this machine, and what the recommended policy allows each class.",
        discussion: """
            It reads the machine twice, so that rates are known. --simulate takes a condition and a state, such as \
            thermal=serious, low-power=on, requests=delayed or memory=severe.
            """)

    @Flag(help: "Print JSON instead of text.")
    var json = false

    @Option(help: "A state that takes the place of the observed one; can be repeated.")
    var simulate: [SimulatedState] = []

    @Option(help: "A file or directory on a file system whose space counts; can be repeated.")
    var path: [String] = ["/"]

    func run() throws {
        try StandardOutput.requireOpen()
        var overrides = ConditionOverrides()
        for state in simulate { state.apply(to: &overrides) }
        let report = ConditionsReport(
            conditions: overrides.applied(to: observe()), policy: RecommendedPolicy())
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try StandardOutput.write(String(decoding: try encoder.encode(report), as: UTF8.self))
        } else {
            try StandardOutput.write(report.lines.joined(separator: "\n"))
        }
    }

    /// The time between the two readings.
    private static let interval: TimeInterval = 0.6

    /// Reads the machine twice: rates are those between the readings. States that would have to last count at once.
    private func observe() -> SystemConditions {
        var machine = ConditionMachine(isSnapshot: true)
        let reader = SystemReader(paths: path)
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
