import ArgumentParser

/// The benchmarks' command line.
@main
struct QoSBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qos-bench",
        abstract: "Measures the runtime against Swift's default executor, others and floors.",
        subcommands: [RunCommand.self, ListCommand.self, PictureCommand.self],
        defaultSubcommand: RunCommand.self)
}
