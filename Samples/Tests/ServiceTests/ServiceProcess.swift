import Foundation
import Glibc

/// The service as a process of its own.
final class ServiceProcess {
    /// What a process that ended leaves.
    struct Ending {
        var status: Int32
        var wasKilled: Bool
        var errors: String
    }

    private let process = Process()
    private let output = Pipe()
    private let errors: URL

    /// The port it listens on, once `waitUntilListening` has returned.
    private(set) var port = 0
    /// The token that the service showed.
    private(set) var token = ""

    /// Starts the service that was built beside the tests; it shows no colours, and its errors go to a file.
    ///
    /// With `shell`, a shell runs that command, in which `"$@"` is the service with its arguments.
    init(
        _ arguments: [String],
        errors: String,
        environment: [String: String] = [:],
        shell: String? = nil
    ) throws {
        // What ignores a signal has children that ignore it, and shells make what runs in the background ignore this one.
        signal(SIGINT, SIG_DFL)
        self.errors = URL(fileURLWithPath: errors)
        try Data().write(to: self.errors)
        let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let program = products.appendingPathComponent("qos-service")
        process.executableURL = shell == nil ? program : URL(fileURLWithPath: "/bin/bash")
        process.arguments = shell.map { ["-c", $0, "shell", program.path] + arguments } ?? arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: self.errors)
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// The number of the process.
    var identifier: Int32 { process.processIdentifier }

    /// Whether the process has not ended.
    var isRunning: Bool { process.isRunning }

    /// Waits for a line on the standard output; fails when the process ends without it.
    @discardableResult
    func waitForLine() throws -> String {
        var text = ""
        while !text.contains("\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Failure(message: "it ended early: \(wait().errors)") }
            text += String(decoding: data, as: UTF8.self)
        }
        return text
    }

    /// Waits for the line that names the port; fails when the process ends without it.
    func waitUntilListening() throws {
        let text = try waitForLine()
        guard let match = text.firstMatch(of: /:(\d+)\/(?:\?token=(\w+))?\n/), let port = Int(match.1) else {
            throw Failure(message: "it does not say where it listens: \(text)")
        }
        self.port = port
        token = String(match.2 ?? "")
    }

    /// The address of the page, with the token.
    var address: String { "http://127.0.0.1:\(port)/?token=\(token)" }

    /// Sends a signal.
    func send(_ signal: Int32) {
        kill(process.processIdentifier, signal)
    }

    /// Sets how many descriptors the process may have, at most 4,096; those that it has stay open.
    func limitDescriptors(to count: Int) throws {
        let change = try Process.run(
            URL(filePath: "/usr/bin/prlimit"),
            arguments: ["--pid", "\(process.processIdentifier)", "--nofile=\(count):4096"]
        )
        change.waitUntilExit()
        guard change.terminationStatus == 0 else { throw Failure(message: "prlimit: \(change.terminationStatus)") }
    }

    /// Waits for the end.
    func wait() -> Ending {
        process.waitUntilExit()
        return Ending(
            status: process.terminationStatus,
            wasKilled: process.terminationReason == .uncaughtSignal,
            errors: (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
        )
    }

    /// Asks for the path and returns the answer.
    func get(_ path: String) throws -> HTTPAnswer {
        try HTTPAnswer(port: port, path: path, fields: ["Authorization": "Bearer \(token)"])
    }

    /// Asks for the status until `condition` holds; each question waits for its answer, so the service sets the pace.
    @discardableResult
    func status(until condition: (StatusAnswer) -> Bool) throws -> StatusAnswer {
        while true {
            let status = try get("/status").decode(StatusAnswer.self)
            if condition(status) { return status }
        }
    }

    struct Failure: Error {
        let message: String
    }
}
