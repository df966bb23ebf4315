import ArgumentParser
import BenchCore
import Glibc

/// Runs benchmarks and prints what came out.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs benchmarks: each peer in a process of its own, in turns.")

    @Argument(help: "Which benchmarks, by id; all when none is named.")
    var ids: [String] = []

    @Flag(help: "Fewer repetitions and shorter runs: each benchmark within a minute.")
    var quick = false

    @Flag(help: "Measure processes without privileges (as root: uid 65534).")
    var unprivileged = false

    @Flag(help: "One JSON object per figure instead of a table.")
    var json = false

    @Option(help: "Peers of other languages as well: 'all', or some of tokio, tokio-niced, go, java, with commas.")
    var peers = ""

    @Flag(help: "B1 over many loads, for the picture: 'picture' draws it from what --json prints.")
    var curve = false

    @Option(
        name: [.customLong("runs"), .customLong("repetitions")],
        help: "How often each peer runs. Default 5, with --quick 3.")
    var repetitions: Int?

    @Option(name: .customLong("case"), help: "Only experiments whose name contains this.")
    var filter: String?

    @Option(help: "Only these peers, with commas: for instance 'ours,default'. Figures that need others are left out.")
    var only = ""

    func validate() throws {
        for id in ids where Catalogue.benchmark(id) == nil {
            let known = Catalogue.all.map(\.id).joined(separator: ", ")
            throw ValidationError("there is no benchmark '\(id)': there are \(known)")
        }
        for name in peers.split(separator: ",")
        where name != "all" && !PeerKind.others.map(\.rawValue).contains(String(name)) {
            throw ValidationError(
                "there is no other peer '\(name)': there are \(PeerKind.others.map(\.rawValue).joined(separator: ", "))"
            )
        }
        for name in only.split(separator: ",") where PeerKind(rawValue: String(name)) == nil {
            throw ValidationError(
                "there is no peer '\(name)': there are \(PeerKind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        if curve, ids.contains(where: { $0.uppercased() != "B1" }) { throw ValidationError("--curve is for B1") }
        if let repetitions, repetitions < 1 { throw ValidationError("at least one repetition is needed") }
    }

    func run() throws {
        let environment = Environment.read(unprivileged: unprivileged)
        let report = Report(asJSON: json)
        report.begin(environment)
        let programs = try PeerPrograms.besideThisOne()
        let others = PeerKind.others.filter {
            peers == "all" || peers.split(separator: ",").contains(Substring($0.rawValue))
        }
        for peer in others where !programs.has(peer) {
            Output.note("skipped: \(peer.rawValue) (\(peer.requirement ?? "\(peer.program) has not been built"))")
        }
        let runner = Runner(
            programs: programs, repetitions: repetitions ?? (quick ? 3 : 5),
            isUnprivileged: environment.isUnprivileged, patience: quick ? 2 : 20)
        let scope = Benchmark.Scope(
            isQuick: quick, isUnprivileged: environment.isUnprivileged, others: others.filter(programs.has),
            isCurve: curve)
        let ids = curve ? ["B1"] : ids
        let benchmarks = ids.isEmpty ? Catalogue.all : ids.compactMap(Catalogue.benchmark)
        let chosen = Set(only.split(separator: ",").compactMap { PeerKind(rawValue: String($0)) })
        var failures = 0
        for benchmark in benchmarks {
            let experiments = benchmark.experiments(scope).filter { filter.map($0.name.contains) ?? true }
            for experiment in chosen.isEmpty ? experiments : experiments.compactMap({ $0.restricted(to: chosen) }) {
                let outcome = runner.run(experiment, of: benchmark)
                report.add(outcome, experiment, benchmark, environment)
                failures += outcome.failures.count
            }
        }
        if failures > 0 { throw ExitCode(1) }
    }
}
