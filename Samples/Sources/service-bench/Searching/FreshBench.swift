import ArgumentParser
import Foundation

/// Measures the time until a request finds a file that was just written, while the service reads all files again.
struct FreshBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fresh",
        abstract: "Measures answers that must know a new file during a pass, with 'fresh=' and without it.",
        discussion: """
            Before each request all files get new times, and a new file with a new word is written. With 'fresh=' one \
            request names the folder of the new file. Without it, requests for the word follow one another until the \
            pass has read the file. Both take turns. The corpus is generated, the same each time.
            """
    )

    @Option(help: "The number of turns, each with and without 'fresh='.")
    var turns = 5

    @Option(help: "The number of files.")
    var files = 6000

    /// A part of the answer of `/search`.
    private struct Answer: Decodable {
        let total: Int
        let fresh: Bool?
    }

    func validate() throws {
        guard turns > 0, files > 0 else { throw ValidationError("--turns and --files take 1 or more.") }
    }

    func run() throws {
        let place = try BenchPlace(isUnprivileged: false)
        defer { place.remove() }
        let corpus = try Corpus(folder: place.path + "/corpus", files: files, wordsPerFile: 1000)
        let service = try Service([
            place.program("qos-service"), corpus.folder, "--index-dir", place.state + "/index", "--access", "open",
            "--rescan-interval", "2", "--governor", "off",
        ])
        try service.waitUntilComplete(files: files)
        var times: [Bool: [Double]] = [:]
        for turn in 0..<(2 * turns) {
            let isPromoted = turn % 2 == 0
            let word = "novelty\(turn)"
            try corpus.touch()
            try Data("\(word)\n".utf8).write(to: URL(filePath: "\(corpus.folder)/d\(turn % 50)/new\(turn).txt"))
            try service.wait { $0.state == "indexing" }
            let start = ContinuousClock.now
            try ask(service, word, folder: isPromoted ? "/d\(turn % 50)" : nil)
            times[isPromoted, default: []].append((ContinuousClock.now - start) / .milliseconds(1))
            try service.waitUntilComplete(files: files + turn + 1)
        }
        print("| request | turns | ms until the new file is found |\n|---|---|---|")
        print("| with fresh= | \(turns) | \(Quantile.spread(times[true] ?? [])) |")
        print("| without | \(turns) | \(Quantile.spread(times[false] ?? [])) |")
    }

    /// Asks until the one file with a word is found.
    private func ask(_ service: Service, _ word: String, folder: String?) throws {
        let client = try Client(port: service.port)
        let path = "/search?q=\(word)" + (folder.map { "&fresh=\($0)&wait=20" } ?? "")
        while true {
            let answer = try JSONDecoder().decode(Answer.self, from: Data(client.get(path)))
            if answer.total == 1 { return }
            guard folder == nil else {
                throw BenchPlace.Failure(description: "the answer is not fresh: \(answer)")
            }
            usleep(2000)
        }
    }
}
