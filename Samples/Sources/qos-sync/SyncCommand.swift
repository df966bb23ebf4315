internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import SampleCommand
internal import Sync
internal import SyncAgent
internal import TreeScan

/// `qos-sync`: brings two folders in step.
@main
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qos-sync",
        abstract: "Brings two folders in step, in the background.",
        discussion: """
            A run remembers what both folders had, so the next one knows on which side a file was changed or removed. \
            Nothing is removed before that, in mode two-way.

            A run that is killed leaves nothing to repair: run the same command again.

            'qos-sync agent FOLDER' offers a folder to other machines; 'qos-sync agent --help' tells more.

            Exit codes: 0 in step; 1 conflicts, or entries that stay as they are; 2 wrong arguments; 3 refused or \
            failed; 128 and the signal's number after a signal.
            """
    )

    @Argument(help: "The first folder.", completion: .directory)
    var a: String

    @Argument(
        help: "The second folder, or the address of its agent: http://HOST:PORT or https://HOST.",
        completion: .directory)
    var b: String

    @Flag(help: "Make B as A. Changes on B are undone.")
    var mirror = false

    @Flag(help: "Take changes of both sides to the other one. This is the default.")
    var twoWay = false

    @Flag(help: "Only show the decisions, with their reasons.")
    var dryRun = false

    @Flag(help: "Go on: sync again after each change, until a signal comes.")
    var watch = false

    @Option(help: "With --watch: look at everything after this many seconds, also without a change.")
    var interval = 30

    @Option(help: "Refuse to remove more than this share of a side's entries. (default: 50%)")
    var maxDelete: Percent?

    @Option(
        help: "If both sides changed a file: keep-both (the default), newer, a or b.",
        completion: .list(ConflictPolicy.allCases.map(\.rawValue)),
        transform: { text in
            guard let policy = ConflictPolicy(rawValue: text) else {
                throw ValidationError("'\(text)' is not one of keep-both, newer, a and b.")
            }
            return policy
        })
    var conflict: ConflictPolicy?

    @Option(
        help: "Leave out entries that match this pattern of gitignore(5), on both sides. May be repeated.")
    var exclude: [String] = []

    @Option(help: "Leave out what matches a pattern of this file, one a line.", completion: .file())
    var excludeFrom: String?

    @Option(
        help: "The folder of the archives, outside of both folders. (default: $XDG_STATE_HOME/swift-qos/sync)",
        completion: .directory)
    var archive: String?

    @Option(
        help: """
            Keep what a removal or a new version takes, below this folder: TIME/A or TIME/B, and the path. Outside of \
            both folders, which must be of this machine.
            """,
        completion: .directory)
    var backupDir: String?

    @Option(help: "If B is an address: the file with the agent's token.", completion: .file())
    var tokenFile: String?

    @Flag(help: "Write results as JSON, one object a line.")
    var json = false

    @Flag(help: "Show what is done so far, each second. By default only on a terminal.")
    var progress = false

    static func main() {
        CommandProcess.prepareStreams()
        let arguments = CommandArguments.current
        if arguments.first == AgentServing.word {
            run(AgentServing.self, Array(arguments.dropFirst()))
        } else {
            run(Self.self, arguments)
        }
    }

    /// Runs a command. Ends the process if its arguments are wrong, or ask for help.
    private static func run<Command: ParsableCommand>(_ type: Command.Type, _ arguments: [String]) {
        do {
            var command = try type.parseAsRoot(arguments)
            try command.run()
        } catch {
            let code = type.exitCode(for: error)
            let text = type.fullMessage(for: error)
            if code == .success { say(text) } else { complain(text) }
            // One code for all wrong arguments; the parser has another one.
            Glibc.exit(code == .success ? 0 : 2)
        }
    }

    func validate() throws {
        guard !(mirror && twoWay) else { throw ValidationError("Give one of --mirror and --two-way.") }
        guard !(mirror && conflict != nil) else {
            throw ValidationError("--conflict has no meaning with --mirror: B becomes as A. Leave one out.")
        }
        guard !(watch && dryRun) else { throw ValidationError("Give one of --watch and --dry-run.") }
        guard (1...86_400).contains(interval) else {
            throw ValidationError("--interval takes 1 to 86400 seconds, not \(interval).")
        }
        guard try AgentAddress(a) == nil else {
            throw ValidationError("Only the second folder may be the one of an agent. Change places.")
        }
        guard try AgentAddress(b) == nil || tokenFile != nil else {
            throw ValidationError("An agent needs its token: copy its token file, and name it with --token-file.")
        }
        guard try backupDir == nil || AgentAddress(b) == nil else {
            throw ValidationError("--backup-dir needs two folders of this machine: the agent keeps no versions.")
        }
        guard backupDir != "" else { throw ValidationError("--backup-dir names no folder.") }
        _ = try excludeRules
        guard !a.isEmpty, !b.isEmpty else { throw ValidationError("The name of a folder is empty.") }
    }

    /// The patterns of the file, then those of the command.
    private var excludeRules: ExcludeRules {
        get throws {
            let patterns = try excludeFrom.map { try ExcludeRules.patterns(in: $0) } ?? []
            return try ExcludeRules(patterns + exclude)
        }
    }

    func run() throws {
        var options = SyncOptions()
        options.excludes = try excludeRules
        options.mode = mirror ? .mirror : .twoWay
        options.policy = conflict ?? .keepBoth
        options.maximumDeletions = maxDelete?.value ?? 50
        options.archive = archive
        options.versions = backupDir
        options.waits = { complain("Another sync works in \($0). This one waits for its end.") }
        if let place = KillPlace(ProcessInfo.processInfo.environment) { place.apply(to: &options) }
        let (chosen, a, b, dryRun, watch, interval, json) = (options, a, b, dryRun, watch, interval, json)
        let (tokenFile, line) = (tokenFile ?? "", ProgressLine(always: progress))
        CommandProcess.sync.run {
            let agent = try AgentAddress(b)
            if agent?.isOpenToOthers == true {
                complain("Warning: without TLS the network sees the token and all files. Use https, or a tunnel.")
            }
            func open() throws -> SyncRun {
                guard let agent else { return try SyncRun(a: a, b: b, options: chosen) }
                let token = try AgentToken.load(tokenFile, makes: false)
                return try SyncRun(a: a, agent: agent, token: token, options: chosen)
            }
            if dryRun {
                try Output(json: json).show(try await open().preview())
            } else if watch {
                try await Watching(
                    open: open, interval: .seconds(interval), output: Output(json: json), progress: line, place: b
                ).run()
            } else {
                let run = try open()
                let report = try await run.run(breathe: { line.show { "\(run.steps) of \(run.total) done" } })
                line.clear()
                try Output(json: json).show(report)
                if !report.isInStep { throw CommandStatus.leftovers }
            }
        }
    }
}
