import Foundation
import Glibc
import Synchronization

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

    /// Starts the service on a free port.
    ///
    /// - Parameter command: The program with its arguments, without a port.
    init(_ command: [String]) throws {
        let output = Pipe()
        let all = command + ["--port", "0"]
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
        guard let match = text.firstMatch(of: /:(\d+)[\/\n]/), let port = Int(match.1) else {
            throw Client.Failure(message: "no port in \(text)")
        }
        self.port = port
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// Returns the state now.
    func status() throws -> Status {
        // A connection of its own: the service closes one that has been idle for a while.
        try Self.status(Client(port: port))
    }

    private static func status(_ client: Client) throws -> Status {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Status.self, from: Data(client.get("/status")))
    }

    /// Waits until everything is indexed and no pass runs.
    @discardableResult
    func waitUntilComplete(files: Int) throws -> Status {
        try wait { $0.complete && $0.state == "idle" && $0.files == files }
    }

    /// Makes the service read every file of the corpus again, and sends searches meanwhile.
    ///
    /// - Parameters:
    ///   - corpus: What this service indexes.
    ///   - searches: Sends searches, to this service or another one, until its argument returns `true`.
    /// - Returns: The latencies, and the seconds of the pass.
    func indexing(
        _ corpus: Corpus,
        _ searches: (@escaping @Sendable () -> Bool) throws -> [Double]
    ) throws -> (latencies: [Double], seconds: Double) {
        let total = try waitUntilComplete(files: corpus.files).settled + corpus.files
        try corpus.touch()
        // A pass may have begun while the files were touched. The next one sees its files again.
        try wait { $0.state == "indexing" }
        return try during(searches) { $0.settled < total || $0.state == "indexing" }
    }

    /// Sends searches until the service has indexed its files for the first time.
    ///
    /// - Returns: The latencies, and the seconds until all files were indexed.
    func building(
        files: Int,
        _ searches: (@escaping @Sendable () -> Bool) throws -> [Double]
    ) throws -> (latencies: [Double], seconds: Double) {
        try during(searches) { !$0.complete || $0.files != files }
    }

    /// Sends searches while the service is in a state.
    private func during(
        _ searches: (@escaping @Sendable () -> Bool) throws -> [Double],
        _ isBusy: @escaping @Sendable (Status) -> Bool
    ) throws -> (latencies: [Double], seconds: Double) {
        let isOver = Atomic(false)
        let seconds = Mutex(Double.nan)
        let watcher = DispatchSemaphore(value: 0)
        let begin = ContinuousClock.now
        let port = port
        Thread.detachNewThread {
            defer { watcher.signal() }
            guard let own = try? Client(port: port) else { return }
            while let status = try? Self.status(own), isBusy(status) { usleep(20_000) }
            seconds.withLock { $0 = (ContinuousClock.now - begin) / .seconds(1) }
            isOver.store(true, ordering: .relaxed)
        }
        let latencies = try searches { isOver.load(ordering: .relaxed) }
        watcher.wait()
        return (latencies, seconds.withLock { $0 })
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
