import Foundation
import Glibc

/// The measured service, as a separate process.
final class Service {
    /// A part of the answer of `/status`.
    struct Status: Decodable {
        struct Pass: Decodable {
            let seconds: Double
            let settled: Int
        }

        let state: String
        let complete: Bool
        let files: Int
        let pending: Int
        let settled: Int
        let lastPass: Pass?
    }

    private let process = Process()
    let port: Int
    private let client: Client

    /// Starts the service.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - folder: The folder that it indexes.
    ///   - index: The folder of its index.
    ///   - executor: `qos` or `swift`.
    ///   - isUnprivileged: Whether it runs as a user without privileges.
    init(program: String, folder: String, index: String, executor: String, isUnprivileged: Bool) throws {
        let arguments = [
            program, folder, "--index-dir", index, "--port", "0", "--access", "open", "--rescan-interval", "2",
            // The benchmark measures the classes alone, on both executors.
            "--executor", executor, "--governor", "off",
        ]
        let output = Pipe()
        let prefix = [
            "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
            "--bounding-set=-all",
        ]
        let all = isUnprivileged ? prefix + arguments : arguments
        process.executableURL = URL(filePath: all[0])
        process.arguments = Array(all.dropFirst())
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        while !text.contains("\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Client.Failure(message: "the service ended") }
            text += String(decoding: data, as: UTF8.self)
        }
        guard let match = text.firstMatch(of: /:(\d+)\//), let port = Int(match.1) else {
            throw Client.Failure(message: "no port in \(text)")
        }
        self.port = port
        client = try Client(port: port)
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// Returns the state now.
    func status() throws -> Status {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Status.self, from: Data(client.get("/status")))
    }

    /// Waits until a condition holds, and looks fifty times a second.
    @discardableResult
    func wait(until condition: (Status) -> Bool) throws -> Status {
        while true {
            let status = try status()
            if condition(status) { return status }
            usleep(20_000)
        }
    }
}
