import ArgumentParser

/// Measures the sample's searches beside background work.
@main
struct ServiceBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service-bench",
        abstract: "Measures the sample's searches beside background work. No other program should load the machine.",
        subcommands: [SearchBench.self, InterferenceBench.self, PictureCommand.self],
        defaultSubcommand: SearchBench.self
    )
}
