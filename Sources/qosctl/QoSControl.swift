import ArgumentParser

/// The command line tool. It shows the rights of a machine and a process for quality of service.
@main
struct QoSControl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qosctl",
        abstract:
            "Shows what a machine and a process can do and do for quality of service, starts programs, controls stored work.",
        discussion:
            "Exit status: 0 on success, 1 on failure, 64 for unknown arguments.",
        subcommands: [
            Doctor.self, Top.self, Activities.self, Postmortem.self, Run.self, Conditions.self, Simulate.self,
            Energy.self, Work.self,
        ])
}
