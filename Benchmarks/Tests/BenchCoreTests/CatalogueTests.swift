import BenchCore
import Testing

@Suite struct CatalogueTests {
    @Test(
        "every rule of an experiment refers to series that the experiment runs", arguments: [true, false],
        [true, false])
    func rulesReferToSeries(isQuick: Bool, isUnprivileged: Bool) {
        for benchmark in Catalogue.all {
            for experiment in benchmark.experiments(.init(isQuick: isQuick, isUnprivileged: isUnprivileged)) {
                let series = Set(experiment.series)
                for rule in experiment.rules {
                    #expect(rule.operands.allSatisfy { series.contains($0.series) }, "\(benchmark.id) \(rule.metric)")
                }
            }
        }
    }

    @Test("quick runs of a benchmark measure for under a minute with three repetitions")
    func quickIsQuick() {
        for benchmark in Catalogue.all {
            let seconds = benchmark.experiments(.init(isQuick: true, isUnprivileged: false)).flatMap(\.series).map(
                \.seconds
            ).reduce(0, +)
            #expect(seconds * 3 < 55, "\(benchmark.id)")
        }
    }

    @Test("ids are found whatever their case")
    func ids() {
        #expect(Catalogue.benchmark("b3")?.id == "B3")
        #expect(Catalogue.benchmark("B99") == nil)
    }
}
