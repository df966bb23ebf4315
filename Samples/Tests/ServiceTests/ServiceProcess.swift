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

    /// Starts the service that was built beside the tests; it shows no colours, and its errors go to a file.
    init(_ arguments: [String], errors: String, environment: [String: String] = [:]) throws {
        self.errors = URL(fileURLWithPath: errors)
        try Data().write(to: self.errors)
        let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        process.executableURL = products.appendingPathComponent("qos-service")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: self.errors)
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// Waits for the line that names the port; fails when the process ends without it.
    func waitUntilListening() throws {
        var text = ""
        while !text.contains("\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Failure(message: "it ended early: \(wait().errors)") }
            text += String(decoding: data, as: UTF8.self)
        }
        guard let number = text.split(whereSeparator: { ":/\n".contains($0) }).last, let port = Int(number) else {
            throw Failure(message: "it does not say where it listens: \(text)")
        }
        self.port = port
    }

    /// Sends a signal.
    func send(_ signal: Int32) {
        kill(process.processIdentifier, signal)
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
        try HTTPAnswer(port: port, path: path)
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
