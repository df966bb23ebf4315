internal import ArgumentParser
internal import Foundation
internal import SampleCommand
internal import SyncAgent
internal import TreeScan

/// `qos-sync agent`: offers one folder to syncs of other machines.
struct AgentServing: ParsableCommand {
    /// The first argument of the command.
    static let word = "agent"

    static let configuration = CommandConfiguration(
        commandName: "qos-sync agent",
        abstract: "Offers a folder to syncs of other machines, over HTTP.",
        discussion: """
            Each request needs the token. The agent makes it at the first start; copy the file to the other machine.

            The agent speaks no TLS. It listens on this machine only, unless --host says otherwise. Put a proxy with TLS \
            before it, or a tunnel.
            """
    )

    @Argument(help: "The folder.", completion: .directory)
    var folder: String

    @Option(help: "The file with the token. It is made if it is missing, and lies outside of the folder.")
    var tokenFile: String

    @Option(help: "The port; 0 for a free one, which the first line of the output names.")
    var port = 7450

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "A further name that requests may use for this machine, such as that of a proxy. May be repeated.")
    var allowedHost: [String] = []

    @Flag(help: "Refuse all changes.")
    var readOnly = false

    func validate() throws {
        guard !folder.isEmpty, !host.isEmpty else { throw ValidationError("The name of the folder or host is empty.") }
        guard (0...65_535).contains(port) else { throw ValidationError("--port takes 0 to 65535, not \(port).") }
    }

    func run() {
        var settings = SyncAgent.Settings()
        settings.host = host
        settings.port = port
        settings.isReadOnly = readOnly
        settings.allowedHosts = allowedHost
        let (chosen, folder, tokenFile) = (settings, folder, tokenFile)
        CommandProcess.agent.run {
            let place = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
            let file = URL(fileURLWithPath: tokenFile).resolvingSymlinksInPath().path
            guard !RootFolder.contains(place, file) else { throw AgentError.tokenInside(file, folder: place) }
            let agent = try SyncAgent(folder, token: try AgentToken.load(tokenFile, makes: true), settings: chosen)
            try await agent.run { port in
                let name = chosen.host.contains(":") ? "[\(chosen.host)]" : chosen.host
                say("Listening on http://\(name):\(port)")
            }
        }
    }
}
