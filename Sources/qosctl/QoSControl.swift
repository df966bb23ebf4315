import ArgumentParser

/// The command line tool. It shows the rights of a machine and a process for quality of service.
@main
struct QoSControl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qosctl",
        abstract: "Looks at what this machine and process can do for quality of service.",
        discussion:
            "Exit status: 0 when the command did what it says, 1 when it failed, 64 for arguments it does not know.",
        subcommands: [Doctor.self])
}
