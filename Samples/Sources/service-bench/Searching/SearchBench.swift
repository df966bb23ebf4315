import ArgumentParser
import Foundation

/// Measures the time of searches while the service indexes, and while it rests.
struct SearchBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "searches",
        abstract: "Measures the sample's searches, by turns idle and indexing, on our executors and on Swift's.",
        discussion: """
            Prints a line for each executor, rate and turn. It has the median and p99 of searches in milliseconds: idle, \
            beside other processes that spin at SCHED_IDLE on every processor, beside another service that reads all files \
            again at SCHED_IDLE, and while it reads them itself. Behind them stand the ratios of the p99 to the idle one, \
            and the time of the own pass. The executors take turns. The corpus is generated, the same each time.
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
        let place = try BenchPlace(isUnprivileged: unprivileged)
        defer { place.remove() }
        let corpus = try Corpus(folder: place.path + "/corpus", files: files, wordsPerFile: 1000)
        print(
            """
            | executor | user | searches/s | idle p50 | idle p99 | spinners p99 | neighbour p99 | indexing p50 \
            | indexing p99 | spinners/idle | neighbour/idle | indexing/idle | pass, s |
            |---|---|---|---|---|---|---|---|---|---|---|---|---|
            """)
        let copy = try Corpus(folder: place.path + "/copy", files: files, wordsPerFile: 1000)
        func service(_ corpus: Corpus, _ executor: String, _ index: String, policy: String? = nil) throws -> Service {
            let arguments = [
                place.program("qos-service"), corpus.folder, "--index-dir", "\(place.state)/\(index)", "--access",
                "open",
                "--rescan-interval", "2",
                // The benchmark measures the classes alone, on both executors.
                "--executor", executor, "--governor", "off",
            ]
            return try Service((policy.map { ["/usr/bin/chrt", $0, "0"] } ?? []) + place.asUser(arguments))
        }
        let neighbour = try service(copy, "swift", "neighbour", policy: "--idle")
        for turn in 0..<turns {
            for executor in executor {
                let own = try service(corpus, executor, executor)
                for rate in rate {
                    let load = Load(port: own.port, rate: rate)
                    let queries = corpus.queries(Int(seconds * rate), seed: UInt64(turn + 1))
                    try own.waitUntilComplete(files: files)
                    try neighbour.waitUntilComplete(files: files)
                    let idle = try load.run(queries, seconds: seconds).latencies
                    let spinners = try Spinners()
                    let spinning = Result { try load.run(queries, seconds: seconds).latencies }
                    spinners.stop()
                    let beside = try neighbour.indexing(copy) {
                        try load.run(queries, seconds: seconds, until: $0).latencies
                    }.latencies
                    let indexing = try own.indexing(corpus) {
                        try load.run(queries, seconds: seconds, until: $0).latencies
                    }
                    let tails = try [spinning.get(), beside, indexing.latencies].map { Quantile.of($0, 0.99) }
                    let rest = Quantile.of(idle, 0.99)
                    var figures = [Quantile.of(idle, 0.5), rest, tails[0], tails[1]]
                    figures += [Quantile.of(indexing.latencies, 0.5), tails[2]] + tails.map { $0 / rest }
                    figures.append(indexing.seconds)
                    let texts = figures.map { String(format: "%.2f", $0) }.joined(separator: " | ")
                    print("| \(executor) | \(unprivileged ? "unprivileged" : "own") | \(Int(rate)) | \(texts) |")
                    fflush(nil)
                }
            }
        }
    }
}
