import BenchCore
import Testing

@Suite struct CatalogueTests {
    @Test(
        "every rule of an experiment refers to series that the experiment runs",
        arguments: [
            .init(isQuick: true, isUnprivileged: false), .init(isQuick: false, isUnprivileged: true),
            .init(isQuick: true, isUnprivileged: true, others: PeerKind.others),
            .init(isQuick: false, isUnprivileged: false, others: PeerKind.others),
            .init(isQuick: false, isUnprivileged: false, others: [.go], isCurve: true),
        ] as [Benchmark.Scope])
    func rulesReferToSeries(scope: Benchmark.Scope) {
        for benchmark in Catalogue.all {
            for experiment in benchmark.experiments(scope) {
                let series = Set(experiment.series)
                for rule in experiment.rules {
                    #expect(rule.operands.allSatisfy { series.contains($0.series) }, "\(benchmark.id) \(rule.metric)")
                }
            }
        }
    }

    @Test("an experiment of some peers keeps the rules that need no others, and none is left without a peer")
    func restricted() throws {
        let scope = Benchmark.Scope(isQuick: false, isUnprivileged: false)
        let experiment = try #require(Catalogue.benchmark("B1")?.experiments(scope).first)
        let ours = try #require(experiment.restricted(to: [.ours]))
        #expect(ours.series.map(\.peer) == [.ours, .ours])
        #expect(ours.rules.contains { $0.metric == "bad_runs" })
        #expect(ours.rules.allSatisfy { $0.operands.allSatisfy { $0.series.peer == .ours } })
        #expect(experiment.restricted(to: [.foundation]) == nil)
    }

    @Test("quick runs of a benchmark measure for under a minute with three repetitions")
    func quickIsQuick() {
        let plain = Benchmark.Scope(isQuick: true, isUnprivileged: false)
        let curve = Benchmark.Scope(isQuick: true, isUnprivileged: false, isCurve: true)
        // A disk needs seconds for each of its kinds of load, and the states of a machine fall after seconds.
        let long = ["B9", "B18"]
        let short = Catalogue.all.filter { !long.contains($0.id) }
        for (benchmark, scope) in short.map({ ($0, plain) }) + [(Catalogue.all[0], curve)] {
            let seconds = benchmark.experiments(scope).flatMap(\.series).map(\.seconds).reduce(0, +)
            #expect(seconds * 3 < 55, "\(benchmark.id)")
        }
    }

    @Test("a peer of another language is measured where it was asked for, and only there")
    func others() {
        func peers(_ others: [PeerKind]) -> Set<PeerKind> {
            let scope = Benchmark.Scope(isQuick: true, isUnprivileged: false, others: others)
            return Set(Catalogue.all.flatMap { $0.experiments(scope) }.flatMap(\.series).map(\.peer))
        }
        #expect(peers([]).isDisjoint(with: PeerKind.others))
        #expect(peers([]).contains(.nio))
        #expect(peers([.java]).intersection(PeerKind.others) == [.java])
    }

    @Test("ids are found whatever their case")
    func ids() {
        #expect(Catalogue.benchmark("b3")?.id == "B3")
        #expect(Catalogue.benchmark("B99") == nil)
    }
}
