import ArgumentParser
import Foundation
import Synchronization

/// Measures the time of searches while the service indexes, and while it rests.
@main
struct ServiceBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service-bench",
        abstract: "Measures the sample's searches, by turns idle and indexing, on our executors and on Swift's.",
        discussion: """
            Prints a line for each executor, rate and turn. It has the median and p99 of searches in milliseconds: idle, \
            beside other processes that spin at SCHED_IDLE on every processor, and while all files are read again. Behind \
            them stand the ratios of the p99 to the idle one, and the time of that pass. The executors take turns. The \
            corpus is generated, the same each time. No other program should load the machine.
            """
    )

    @Option(help: "Searches a second; may be repeated.")
    var rate: [Double] = [100, 200]

    @Option(help: "qos or swift; may be repeated.")
    var executor = ["qos", "swift"]

    @Option(help: "The number of turns, each idle and indexing.")
    var turns = 3

    @Option(help: "Seconds of a turn while the service is idle, and the maximum while it indexes.")
    var seconds = 8.0

    @Option(help: "The number of files.")
    var files = 6000

    @Flag(help: "Run the service as a user without privileges; needs root and setpriv.")
    var unprivileged = false

    func run() throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "service-bench-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: place) }
        let corpus = try Corpus(folder: place + "/corpus", files: files, wordsPerFile: 1000)
        try FileManager.default.createDirectory(atPath: place + "/state", withIntermediateDirectories: true)
        var program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "qos-service").path
        if unprivileged {
            // The other user must be able to use the program and the place of the index.
            try FileManager.default.copyItem(atPath: program, toPath: place + "/qos-service")
            program = place + "/qos-service"
            let rights: [FileAttributeKey: Any] = [.ownerAccountID: 65_534, .groupOwnerAccountID: 65_534]
            try FileManager.default.setAttributes(rights, ofItemAtPath: place + "/state")
        }
        print(
            """
            | executor | user | searches/s | idle p50 | idle p99 | spinners p99 | indexing p50 | indexing p99 \
            | spinners/idle | indexing/idle | pass, s |
            |---|---|---|---|---|---|---|---|---|---|---|
            """)
        for turn in 0..<turns {
            for executor in executor {
                let service = try Service(
                    program: program,
                    folder: corpus.folder,
                    index: "\(place)/state/\(executor)",
                    executor: executor,
                    isUnprivileged: unprivileged
                )
                for rate in rate { try measure(service, corpus, rate, UInt64(turn + 1), executor) }
            }
        }
    }

    private func measure(_ service: Service, _ corpus: Corpus, _ rate: Double, _ seed: UInt64, _ name: String) throws {
        let load = Load(port: service.port, rate: rate)
        let queries = corpus.queries(Int(seconds * rate), seed: seed)
        try service.wait { $0.complete && $0.state == "idle" && $0.files == files }
        let idle = try load.run(queries, seconds: seconds)
        let spinners = try Spinners()
        let spinning = Result { try load.run(queries, seconds: seconds) }
        spinners.stop()
        let beside = try spinning.get()
        let before = try service.wait { $0.complete && $0.state == "idle" }.settled
        try corpus.touch()
        // A pass may have begun while the files were touched. The next one sees its files again.
        try service.wait { $0.state == "indexing" }
        let isOver = Atomic(false)
        let watched = Mutex<Double>(0)
        let begin = ContinuousClock.now
        let watcher = DispatchSemaphore(value: 0)
        let port = service.port
        let total = before + files
        Thread.detachNewThread {
            defer { watcher.signal() }
            guard let own = try? Client(port: port) else { return }
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            while let body = try? own.get("/status"),
                let status = try? decoder.decode(Service.Status.self, from: Data(body)),
                status.settled < total || status.state == "indexing"
            {
                usleep(20_000)
            }
            watched.withLock { $0 = (ContinuousClock.now - begin) / .seconds(1) }
            isOver.store(true, ordering: .relaxed)
        }
        let indexing = try load.run(queries, seconds: seconds) { isOver.load(ordering: .relaxed) }
        watcher.wait()
        let user = unprivileged ? "unprivileged" : "own"
        func text(_ value: Double) -> String { String(format: "%.2f", value) }
        let figures = [
            quantile(idle, 0.5), quantile(idle, 0.99), quantile(beside, 0.99), quantile(indexing, 0.5),
            quantile(indexing, 0.99), quantile(beside, 0.99) / quantile(idle, 0.99),
            quantile(indexing, 0.99) / quantile(idle, 0.99), watched.withLock { $0 },
        ]
        print("| \(name) | \(user) | \(Int(rate)) | \(figures.map(text).joined(separator: " | ")) |")
        fflush(nil)
    }

    private func quantile(_ sorted: [Double], _ share: Double) -> Double {
        sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}
