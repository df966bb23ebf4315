import ArgumentParser
import Foundation

/// Measures what our backup, sync and index cost, beside other programs.
struct CostsBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "costs",
        abstract: "Measures what backup, sync and indexing cost: ours, and those of other programs.",
        discussion: """
            Each program runs three times on the same folder: for the first time, without a change, and after one \
            file of a hundred was changed. The programs take turns, each turn in another order, and begin anew.

            The folder is a copy of --corpus; with --download the sources of Go from Debian, or else generated texts. \
            Other trees are generated: many tiny files, and one file of noise that changes in places.

            The other programs are restic and borg, rsync and unison, recollindex, and a script in Python that knows \
            the right hits. A missing one is named and left out. Everything runs with the rights of the caller.
            """
    )

    @Option(help: "The part to run: backup, sync or indexing; may be repeated. (default: all)")
    var only: [CostPart] = []

    @Flag(help: "One turn on smaller generated trees.")
    var quick = false

    @Option(help: "The number of turns. (default: 3, or 1 with --quick)")
    var turns: Int?

    @Option(help: "A folder of sources to copy, save and index.", completion: .directory)
    var corpus: String?

    @Option(help: "The extension of the files whose hits are compared. (default: go, or txt for generated texts)")
    var ext: String?

    @Flag(help: "Fetch the Debian package golang-1.19-src for the folder, and unpack it without an installation.")
    var download = false

    @Option(help: "Also write each run to this file, as a line of JSON.", completion: .file())
    var json: String?

    func validate() throws {
        guard turns.map({ $0 > 0 }) ?? true else { throw ValidationError("--turns takes 1 or more.") }
        guard corpus == nil || !download else { throw ValidationError("Give one of --corpus and --download.") }
        if let corpus, (try? FileManager.default.contentsOfDirectory(atPath: corpus)) == nil {
            throw ValidationError("\(corpus) cannot be listed. Name another folder with --corpus, or use --download.")
        }
    }

    func run() throws {
        let bench = try BenchPlace(isUnprivileged: false)
        defer { bench.remove() }
        let place = try CostPlace(bench)
        let log = try JSONLines(json)
        let sources = try sources(place)
        let parts = only.isEmpty ? CostPart.allCases : only
        // The index has its own files beside the sources.
        let tiny = parts == [.indexing] ? [] : [try Tree(tiny: quick ? 5000 : 50_000, in: place.path)]
        let trees = [sources] + tiny
        for tree in trees { print("\(tree.name): \(tree.files.count) files, \(tree.bytes / 1_000_000) MB") }
        print("no memory below \(MeasuredRun.ownMemory / 1_000_000) MB can be measured")
        if parts.contains(.backup) { try backup(place, trees, log) }
        if parts.contains(.sync) { try sync(place, trees, log) }
        if parts.contains(.indexing) { try indexing(place, sources, log) }
    }

    private var count: Int { turns ?? (quick ? 1 : 3) }

    private func sources(_ place: CostPlace) throws -> Tree {
        if let corpus { return try Tree(copyOf: corpus, name: "sources", in: place.path) }
        guard download else {
            let folder = place.path + "/texts"
            _ = try Corpus(folder: folder, files: quick ? 2000 : 10_000, wordsPerFile: 1000)
            return try Tree(copyOf: folder, name: "sources", in: place.path)
        }
        return try Tree(copyOf: DebianSources(in: place.path + "/debian").folder, name: "sources", in: place.path)
    }

    private func backup(_ place: CostPlace, _ trees: [Tree], _ log: JSONLines) throws {
        print("\n## Backup")
        let costs = BackupCosts(place: place, installed: Peer.installed(BackupCosts.peers))
        var records: [CostRecord] = []
        for tree in trees {
            let series = CostSeries(
                part: .backup, tree: tree, programs: try costs.programs(tree), output: place.output)
            try series.run(turns: count) { record in
                records.append(record)
                try log.write(record)
            }
        }
        let table = CostTable(records)
        table.show("repository MB")
        print("")
        costs.judge(table)
        for tree in trees {
            for record in records where record.corpus == tree.name && record.run == .first && record.turn == 0 {
                guard let stored = record.stored else { continue }
                let share = String(format: "%.2f", Double(tree.bytes) / Double(stored))
                print("- bytes of \(tree.name) for each stored byte, \(record.program): \(share)")
            }
        }
    }

    private func sync(_ place: CostPlace, _ trees: [Tree], _ log: JSONLines) throws {
        print("\n## Sync")
        let installed = Peer.installed(SyncCosts.peers)
        let costs = SyncCosts(place: place, installed: installed)
        let wire = try WireCosts(place, hasRsync: installed.contains("rsync"))
        let binary = try Tree(binary: (quick ? 32 : 256) << 20, in: place.path)
        var (local, distant): ([CostRecord], [CostRecord]) = ([], [])
        for tree in trees {
            let series = CostSeries(part: .sync, tree: tree, programs: try costs.programs(tree), output: place.output)
            try series.run(turns: count) { record in
                local.append(record)
                try log.write(record)
            }
        }
        let series = CostSeries(part: .sync, tree: binary, programs: try wire.programs(binary), output: place.output)
        try series.run(turns: count) { record in
            distant.append(record)
            try log.write(record)
        }
        let (near, far) = (CostTable(local), CostTable(distant))
        near.show("–")
        far.show("wire MB")
        print("")
        costs.judge(near)
        wire.judge(far)
    }

    private func indexing(_ place: CostPlace, _ tree: Tree, _ log: JSONLines) throws {
        print("\n## Indexing")
        let costs = IndexingCosts(place: place, installed: Peer.installed(IndexingCosts.peers))
        let name = ext ?? (corpus == nil && !download ? "txt" : "go")
        let programs = try costs.programs(tree, extension: name)
        let series = CostSeries(part: .indexing, tree: tree, programs: programs, output: place.output)
        var records: [CostRecord] = []
        try series.run(turns: count) { record in
            records.append(record)
            try log.write(record)
        } then: { run in
            if run != .unchanged { try costs.compare(tree, extension: name) }
        }
        let table = CostTable(records)
        table.show("index MB")
        print("")
        costs.judge(table)
        try costs.search(files: 10_000, rate: 100, seconds: 120)
    }
}
