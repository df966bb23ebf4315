internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import Indexing
internal import TreeScan

/// `qos-service FOLDER`: indexes a folder in the background and answers searches in the foreground.
@main
struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qos-service",
        abstract: "Indexes the text files below a folder and answers searches over HTTP meanwhile.",
        discussion: """
            GET /                 a page to search from
            GET /search?q=WORDS   hits as JSON, best first; also limit, offset,
                                  syntax=words (the default) or syntax=fts
            GET /status           what the index holds and does, as JSON

            SIGTERM or SIGINT stops the service in order within a second; the next start continues where it was. A \
            second signal ends it at once.

            Exit codes: 0 stopped in order; 1 failure, for example the port is taken; 64 wrong arguments; 66 the \
            folder is missing or cannot be read; 128 and the signal's number after a second signal.
            """
    )

    @Argument(help: "The folder to index.", completion: .directory)
    var folder: String

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on, 0 for any free one.")
    var port = 8080

    @Option(help: "Where the index is kept. (default: a folder per indexed folder in the user's state folder)")
    var indexDir: String?

    @Option(help: "Seconds between the end of a pass over the folder and the start of the next, 1 or more.")
    var rescanInterval = 60

    @Flag(help: "Show no progress, only errors.")
    var quiet = false

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port is \(port). Choose a value from 0 to 65535.")
        }
        guard rescanInterval >= 1 else {
            throw ValidationError("--rescan-interval is \(rescanInterval). Choose 1 or more seconds.")
        }
    }

    func run() throws {
        let settings = try settings()
        runProcess { await SearchService(settings).run() }
    }

    /// The arguments with the defaults that depend on the machine.
    private func settings() throws -> ServiceSettings {
        do {
            _ = try RootFolder(folder)
        } catch {
            complain("\(error)")
            throw ExitCode(ExitStatus.noInput.rawValue)
        }
        let location = IndexLocation(folder: folder, environment: ProcessInfo.processInfo.environment)
        guard let directory = indexDir ?? location.directory else {
            complain("Neither XDG_STATE_HOME nor HOME is set. Name a place for the index with --index-dir.")
            throw ExitCode(ExitStatus.usage.rawValue)
        }
        return ServiceSettings(
            folder: location.folder,
            directory: directory,
            host: host,
            port: port,
            rescanInterval: .seconds(rescanInterval),
            isQuiet: quiet
        )
    }
}

/// Writes an error for the user to the standard error stream.
func complain(_ message: String) {
    FileHandle.standardError.write(Data("Error: \(message)\n".utf8))
}
