import ArgumentParser
import Foundation
import Synchronization

/// Measures searches while a backup, a sync and a pass of the index run: ours, and those of other programs.
struct InterferenceBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interference",
        abstract: "Measures searches beside backup, sync and indexing: ours, and those of other programs.",
        discussion: """
            The other programs are restic, rsync and recollindex. Before each turn every file of the corpus gets other \
            words. The work then saves, copies and indexes them. \
            Searches come at random times at a share of what the service answers at most, whether the earlier ones are \
            answered or not. The time of a late search counts from the moment at which it was due. They are counted from \
            the begin of the work to its end. The neighbours take turns, each turn in another order.

            Prints a line for each, then medians with the smallest and the largest value. Needs restic, rsync and \
            recollindex for the neighbours peers, nice and session.
            """
    )

    @Option(help: "What runs beside the searches; may be repeated.")
    var neighbour = Neighbour.allCases

    @Option(help: "The number of turns.")
    var turns = 3

    @Option(help: "The number of the first turn. Later calls may go on with the file of --json.")
    var firstTurn = 1

    @Option(help: "The share of the service's largest rate of answers at which searches come.")
    var load = 0.4

    @Option(help: "Searches a second, instead of a share.")
    var rate: Double?

    @Option(help: "The number of files.")
    var files = 6000

    @Option(help: "Words of a file.")
    var words = 1000

    @Option(help: "Seconds of a turn without work.")
    var seconds = 20.0

    @Flag(help: "Run the service and the other programs as a user without privileges; needs root and setpriv.")
    var unprivileged = false

    @Option(help: "Also write each turn to this file, as a line of JSON.", completion: .file())
    var json: String?

    @Option(help: "Also write each search to this file, as a line of JSON.", completion: .file())
    var trace: String?

    /// A search, and the turn to which it belongs.
    private struct Traced: Encodable {
        let neighbour: String
        let turn: Int
        let search: SearchSample
    }

    /// The longest time of work, in seconds. Work that takes longer fails the run.
    private static let workLimit = 600.0

    func validate() throws {
        guard turns > 0, firstTurn > 0, files > 0, words > 0, seconds > 0, (0.01...1).contains(load),
            rate.map({ $0 > 0 }) ?? true
        else { throw ValidationError("All numbers must be positive, and --load at most 1.") }
        guard neighbour.contains(where: \.isForeign) else { return }
        for program in ["restic", "rsync", "recollindex"] {
            guard FileManager.default.isExecutableFile(atPath: "/usr/bin/\(program)") else {
                throw ValidationError(
                    "\(program) is missing. Install restic, rsync and recollcmd, or name other --neighbour values.")
            }
        }
    }

    func run() throws {
        let place = try BenchPlace(isUnprivileged: unprivileged)
        defer { place.remove() }
        let corpus = try Corpus(folder: place.path + "/corpus", files: files, wordsPerFile: words)
        let bench = try InterferencePlace(place, corpus)
        let rate = try rate ?? load * bench.capacity()
        print("\(Int(rate)) searches a second\n\n\(InterferenceTable.heading)")
        let log = try JSONLines(json)
        var results: [InterferenceResult] = []
        for turn in firstTurn - 1..<firstTurn - 1 + turns {
            for index in neighbour.indices {
                let neighbour = neighbour[(index + turn) % neighbour.count]
                let result = try measure(neighbour, turn: turn, rate: rate, bench)
                results.append(result)
                print(InterferenceTable.row(result))
                fflush(nil)
                try log.write(result)
            }
        }
        print("\n\(InterferenceTable(results).medians)")
    }

    private func measure(_ neighbour: Neighbour, turn: Int, rate: Double, _ bench: InterferencePlace) throws
        -> InterferenceResult
    {
        let service = try bench.service(for: neighbour)
        try service.waitUntilComplete(files: files)
        let work = try bench.work(neighbour, service)
        try work.prepare()
        let seed = UInt64(1000 * (turn + 1)) + UInt64(Neighbour.allCases.firstIndex(of: neighbour) ?? 0)
        try bench.corpus.rewrite(seed: seed)
        let load = Load(port: service.port, rate: rate)
        let limit = neighbour.hasWork ? Self.workLimit : seconds
        let queries = bench.corpus.queries(Int(limit * rate), seed: UInt64(turn + 1))
        // Searches before the work, so that caches and processors are as during it.
        _ = try load.run(queries, seconds: 3)
        let watch = WorkWatch()
        defer { work.end() }
        try work.begin()
        if neighbour.hasWork { watch.start(work) }
        let samples = try load.run(queries, seconds: limit) { watch.isOver }
        let log = try JSONLines(trace)
        for search in samples {
            try log.write(Traced(neighbour: neighbour.rawValue, turn: turn, search: search))
        }
        let latencies = samples.latencies
        let times = neighbour.hasWork ? try watch.times() : nil
        return InterferenceResult(
            neighbour: neighbour.rawValue, turn: turn, rate: rate, searches: latencies.count,
            p50: Quantile.of(latencies, 0.5), p99: Quantile.of(latencies, 0.99), p999: Quantile.of(latencies, 0.999),
            seconds: times?.all,
            parts: times.map { Dictionary(uniqueKeysWithValues: $0.parts.map { ($0.key.rawValue, $0.value) }) })
    }
}
