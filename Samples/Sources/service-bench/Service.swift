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

    /// Starts the service.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - folder: The folder that it indexes.
    ///   - index: The folder of its index.
    ///   - executor: `qos` or `swift`.
    ///   - isUnprivileged: Whether it runs as a user without privileges.
    ///   - policy: The policy of its threads: `nil` for the ordinary one, or an option of chrt(1).
    init(
        program: String, folder: String, index: String, executor: String, isUnprivileged: Bool, policy: String? = nil
    ) throws {
        let arguments = [
            program, folder, "--index-dir", index, "--port", "0", "--access", "open", "--rescan-interval", "2",
            // The benchmark measures the classes alone, on both executors.
            "--executor", executor, "--governor", "off",
        ]
        let output = Pipe()
        let user = [
            "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
            "--bounding-set=-all",
        ]
        let all = (policy.map { ["/usr/bin/chrt", $0, "0"] } ?? []) + (isUnprivileged ? user : []) + arguments
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
        let isOver = Atomic(false)
        let seconds = Mutex(Double.nan)
        let watcher = DispatchSemaphore(value: 0)
        let begin = ContinuousClock.now
        let port = port
        Thread.detachNewThread {
            defer { watcher.signal() }
            guard let own = try? Client(port: port) else { return }
            while let status = try? Self.status(own), status.settled < total || status.state == "indexing" {
                usleep(20_000)
            }
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
