internal import ArgumentParser
internal import Configuration
internal import Foundation
internal import QoSSQLiteStore

/// `qos-service FOLDER`: indexes a folder in the background and answers searches in the foreground.
@main
struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qos-service",
        abstract: "Indexes, backs up and syncs folders in the background, and answers requests meanwhile.",
        discussion: """
            GET /                 the search page
            GET /search?q=WORDS   hits as JSON, best first; also limit, offset,
                                  syntax=words (the default), fts or substrings
            GET /file?id=NUMBER   lines of a hit's text; also from, count
            GET /status           the state of the index, as JSON
            GET /files?path=PATH  the entries of a folder, or a file; needs the
                                  token
            GET /snapshots        the snapshots of the repository, as JSON
            POST /restore         writes a snapshot's entries; snapshot, path,
                                  target; needs the token
            GET /workloads        the items of background work, as JSON
            GET /workloads/ID     one item, with parameters and checkpoint
            POST /workloads/ID/…  run, pause, resume, raise, promote, cancel;
                                  needs the token
            GET /events           the workloads as server-sent events
            GET /metrics          counters, in the text form of Prometheus
            GET /healthz          ok, without a token

            Each option can also be set in the environment, as QOS_SERVICE_PORT, and in the file named by --config, as \
            {"port": 8080}. The command line overrides the environment, and the environment overrides the file.

            SIGTERM or SIGINT stops the service in order within a second. The next start continues from there. A \
            second signal ends it at once.

            Exit codes: 0 stopped in order; 1 failure, for example the port is taken; 64 wrong arguments; 66 the \
            folder is missing or cannot be read; 128 and the signal's number after a second signal.
            """
    )

    @Argument(help: "The folder to index.", completion: .directory)
    var folder: String

    @Option(help: "The address to listen on. (default: 127.0.0.1)")
    var host: String?

    @Option(help: "The port to listen on; 0 takes any free one. (default: 8080)")
    var port: Int?

    @Option(help: "Listen on a Unix socket of this path instead. Only this user can connect.", completion: .file())
    var socket: String?

    @Option(help: "The clients that get answers: token, those with the token, or open, all. (default: token)")
    var access: String?

    @Option(help: "The file with the token. (default: a file beside the index, made at the first start)")
    var tokenFile: String?

    @Option(
        help: "A name of this machine for browsers; may be repeated. (localhost and addresses always work)")
    var allowedHost: [String] = []

    @Option(help: "The folder of the index. (default: one per indexed folder, in the user's state folder)")
    var indexDir: String?

    @Flag(help: "Make a new index that also finds parts of words. It is several times as large.")
    var substrings = false

    @Option(help: "A language whose word forms a new index finds together: english or german; may be repeated.")
    var stem: [String] = []

    @Option(help: "Seconds between the starts of two passes over the folder. (default: 60)")
    var rescanInterval: Int?

    @Option(help: "Seconds after which a search is given up. (default: 2)")
    var searchTime: Int?

    @Option(help: "Open connections at a time; others wait. (default: 256)")
    var connections: Int?

    @Option(help: "Seconds after which a connection without a whole request is closed. (default: 30)")
    var idleTime: Int?

    @Option(help: "Seconds until the answer to a request must be sent. (default: 30)")
    var requestTime: Int?

    @Option(
        help:
            "The level of the log on standard error: trace, debug, info (each request), warning, error, critical. (default: error)"
    )
    var logLevel: String?

    @Option(help: "Whether heat, low power, shortages and slow searches limit the indexing: on or off. (default: on)")
    var governor: String?

    @Option(
        help: "Milliseconds that 99 of 100 quick searches should not exceed; else indexing slows down. (default: 100)")
    var latencyLimit: Int?

    @Option(help: "A simulated state of the machine, such as thermal=serious; may be repeated.")
    var simulate: [String] = []

    @Option(
        help: "A file of simulated states that may change: qosctl simulate thermal serious --file FILE.",
        completion: .file())
    var simulateFrom: String?

    @OptionGroup(title: "Backup and sync")
    var hosting: HostingOptions

    @Option(help: "A JSON file with settings.", completion: .file(extensions: ["json"]))
    var config: String?

    @Flag(help: "Show no progress, only errors.")
    var quiet = false

    @Option(help: ArgumentHelp("The executors that run the tasks, for comparison: qos or swift.", visibility: .hidden))
    var executor = ProcessExecutor.qos

    static func main() {
        StandardStream.prepare()
        // Searches read while the workloads write: they share no lock for a count that nobody asks for.
        if !SQLiteMemoryStatistics.disable() { complain("SQLite counts its memory; searches wait longer for it.") }
        main(nil)
    }

    func run() throws {
        let arguments = arguments
        runProcess(on: executor) {
            do {
                let reader = try await SettingsReader(
                    arguments: arguments,
                    environment: ProcessInfo.processInfo.environment,
                    file: config
                )
                return await SearchService(try await reader.settings(folder: folder)).run()
            } catch {
                complain("\(error)")
                return (error as? SettingsError)?.status ?? .failure
            }
        }
    }

    /// The given arguments by key.
    private var arguments: [String: ConfigContent] {
        let texts = [
            "host": host, "socket": socket, "access": access, "tokenFile": tokenFile, "indexDir": indexDir,
            "logLevel": logLevel, "governor": governor, "simulateFrom": simulateFrom,
        ]
        let numbers = [
            "port": port, "rescanInterval": rescanInterval, "searchTime": searchTime, "connections": connections,
            "idleTime": idleTime, "requestTime": requestTime, "latencyLimit": latencyLimit,
        ]
        var values = texts.compactMapValues { $0.map(ConfigContent.string) }
        values.merge(numbers.compactMapValues { $0.map(ConfigContent.int) }) { $1 }
        values.merge(hosting.values) { $1 }
        if !allowedHost.isEmpty { values["allowedHost"] = .stringArray(allowedHost) }
        if !simulate.isEmpty { values["simulate"] = .stringArray(simulate) }
        if substrings { values["substrings"] = .bool(true) }
        if !stem.isEmpty { values["stem"] = .stringArray(stem) }
        if quiet { values["quiet"] = .bool(true) }
        return values
    }
}

extension ProcessExecutor: ExpressibleByArgument {}
