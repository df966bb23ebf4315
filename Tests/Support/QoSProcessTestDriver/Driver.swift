import Glibc
import QoSRuntime

/// Programs on the process-wide runtime, for tests that look at a process from outside: one for each scenario.
///
/// A program prints its findings as lines `name=value`; the test reads them and the exit status.
@main
struct Driver {
    static func main() {
        guard CommandLine.arguments.count > 1, let scenario = Scenario(rawValue: CommandLine.arguments[1]) else {
            print("usage: QoSProcessTestDriver \(Scenario.allCases.map(\.rawValue).joined(separator: "|")) [NUMBER]")
            exit(64)
        }
        if let code = scenario.withoutRuntime() { exit(code) }
        if scenario == .bodyOnMainActor {
            QoSProcess.runOnMainActor(configuration: scenario.configuration) { try await Scenario.bodyOnMainActor() }
        }
        QoSProcess.run(configuration: scenario.configuration) { try await scenario.body() }
    }

    /// An argument; empty for none. The first is the scenario's name.
    static func argument(_ position: Int) -> String {
        CommandLine.arguments.count > position ? CommandLine.arguments[position] : ""
    }

    /// The number after the scenario's name.
    static var number: Int { Int(argument(2)) ?? 0 }

    /// Prints a finding, at once.
    static func say(_ name: String, _ value: some Any) {
        print("\(name)=\(value)")
        fflush(nil)
    }
}
