import Foundation

/// Our index beside recoll, and beside a script on the same full-text engine, which also tells the right answers.
struct IndexingCosts {
    static let peers = [
        Peer(program: "recollindex", package: "recollcmd"), Peer(program: "python3", package: "python3"),
    ]
    private static let ours = "qos-index"
    private static let oracle = "python FTS5"
    private static let questions = 60
    /// Done, and done with some files that cannot be read.
    private static let statuses: Set<Int32> = [0, 3]

    /// A line of the oracle's answers.
    private struct Question: Decodable {
        let query: String
        let hits: [String]
    }

    /// A part of a line of our answers.
    private struct Hit: Decodable {
        let path: String
    }

    let place: CostPlace
    let installed: Set<String>

    private var script: String { place.home("oracle.py") }
    private var database: String { place.home("oracle") + "/database" }

    /// Returns the programs that index a tree. The oracle takes only the files with an extension.
    func programs(_ tree: Tree, extension name: String) throws -> [CostProgram] {
        var programs = [try ours(tree)]
        if installed.contains("recollindex") { programs.append(recoll(tree)) }
        if installed.contains("python3") {
            try Data(PackageResources.oracle_py).write(to: URL(filePath: script))
            programs.append(
                CostProgram(
                    name: Self.oracle, command: ["/usr/bin/python3", script, "build", database, tree.folder, name],
                    prepare: { try place.clear("oracle") }, kept: { _ in try Tree.bytes(of: place.home("oracle")) }))
        }
        return programs
    }

    /// Asks our index and the oracle the same. Prints the questions whose answers differ.
    func compare(_ tree: Tree, extension name: String) throws {
        guard installed.contains("python3") else { return }
        let ask = ["/usr/bin/python3", script, "ask", database, String(Self.questions), "1"]
        let questions: [Question] = try lines(of: ask)
        let search = [try place.program(Self.ours), "search", "--index", place.home(Self.ours), "--json"]
        var wrong: [String] = []
        for question in questions {
            let hits: [Hit] = try lines(of: search + ["--limit", "1000", question.query, "ext:\(name)"])
            let (own, right) = (Set(hits.map(\.path)), Set(question.hits))
            guard own != right else { continue }
            let (more, less) = (own.subtracting(right), right.subtracting(own))
            let example = more.first.map { "has \($0)" } ?? less.first.map { "lacks \($0)" } ?? ""
            wrong.append("'\(question.query)': \(more.count) too many, \(less.count) too few; \(example)")
        }
        let verdict = wrong.isEmpty ? "met" : "missed"
        print("- hit sets, \(tree.name): \(verdict), \(questions.count - wrong.count) of \(questions.count) are equal")
        for line in wrong.prefix(5) { print("  - \(line)") }
    }

    /// Prints what the figures say about the targets.
    func judge(_ table: CostTable) {
        table.judge(
            "time until everything is searchable", .first, \.wall, limit: 0.1, ours: Self.ours,
            others: ["recollindex"])
    }

    /// Prints the time of searches while the service indexes files for the first time.
    func search(files: Int, rate: Double, seconds: Double) throws {
        let corpus = try Corpus(folder: place.path + "/searched", files: files, wordsPerFile: 300)
        try place.clear("searched")
        let service = try Service([
            try place.program("qos-service"), corpus.folder, "--index-dir", place.home("searched"), "--access", "open",
            "--rescan-interval", "86400",
        ])
        let queries = corpus.queries(Int(rate * seconds), seed: 1)
        let (latencies, build) = try service.building(files: files) {
            try Load(port: service.port, rate: rate).run(queries, seconds: seconds, until: $0).latencies
        }
        print(
            "- \(latencies.count) searches during a build of \(files) files in \(String(format: "%.1f", build)) s, "
                + "p50 \(String(format: "%.2f", Quantile.of(latencies, 0.5))) ms")
        CostTable.say("search p99 during it", Quantile.of(latencies, 0.99), limit: 5, unit: " ms")
    }

    private func ours(_ tree: Tree) throws -> CostProgram {
        let home = place.home(Self.ours)
        return CostProgram(
            name: Self.ours,
            command: [try place.program(Self.ours), "add", "--index", home, "--no-ignore", tree.folder],
            accepts: Self.statuses, prepare: { try place.clear(Self.ours) }, kept: { _ in try Tree.bytes(of: home) })
    }

    private func recoll(_ tree: Tree) -> CostProgram {
        let home = place.home("recollindex")
        return CostProgram(
            name: "recollindex", command: ["/usr/bin/recollindex", "-c", home],
            prepare: {
                try place.clear("recollindex")
                try RecollSettings.write(to: home, for: tree.folder)
            },
            kept: { _ in try Tree.bytes(of: home) })
    }

    private func lines<Line: Decodable>(of command: [String]) throws -> [Line] {
        let output = place.output
        _ = try MeasuredRun(command, output: output, accepts: Self.statuses)
        return try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n").compactMap { line in
            guard line.hasPrefix("{") else { return nil }
            return try JSONDecoder().decode(Line.self, from: Data(line.utf8))
        }
    }
}
