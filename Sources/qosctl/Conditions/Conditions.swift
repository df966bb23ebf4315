import ArgumentParser

/// `qosctl conditions`: prints the state of this machine and the recommended decision.
struct Conditions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the state of this machine, and what the recommended policy allows each class.",
        discussion: """
            It reads the machine twice, so that rates are known. --simulate takes a condition and a state, such as \
            thermal=serious, low-power=on, requests=delayed or memory=severe.
            """)

    @OptionGroup
    var options: ConditionsOptions

    @Option(help: "A state that takes the place of the observed one; can be repeated.")
    var simulate: [SimulatedState] = []

    func run() throws {
        try StandardOutput.requireOpen()
        try options.printReport(simulating: simulate)
    }
}
