import ArgumentParser

/// Measures the sample's searches beside background work, and what that work costs.
@main
struct ServiceBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service-bench",
        abstract: "Measures the sample's searches and its background work. No other program should load the machine.",
        subcommands: [SearchBench.self, FreshBench.self, InterferenceBench.self, PictureCommand.self, CostsBench.self],
        defaultSubcommand: SearchBench.self
    )
}
