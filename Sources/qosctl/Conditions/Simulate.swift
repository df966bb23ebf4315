import ArgumentParser
import QoSKernel

/// `qosctl simulate`: tries a state out, here or in running programs.
struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tries out a state of the machine: thermal serious, low-power on, memory severe.",
        discussion: """
            It prints what the recommended policy allows each class in this state. With --file it also writes the state \
            to a file. Programs whose monitors follow the file take it within a second; the sample service does so with \
            --simulate-from. Without a state, --file ends the simulation: it removes the file.
            """)

    @Argument(help: "Conditions, each followed by its state: thermal serious memory severe, or thermal=serious.")
    var states: [String] = []

    @Option(help: "A file of simulated states that running programs follow.")
    var file: String?

    @OptionGroup
    var options: ConditionsOptions

    func validate() throws {
        let states = try SimulatedState.states(in: states)
        guard !states.isEmpty || file != nil else {
            throw ValidationError("name a condition and its state, such as thermal serious")
        }
    }

    func run() throws {
        try StandardOutput.requireOpen()
        let states = try SimulatedState.states(in: states)
        if let file { try SimulationFile.write(states.map(\.text), to: file) }
        try options.printReport(simulating: states)
    }
}
