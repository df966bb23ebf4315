import ArgumentParser
import BenchCore

/// Prints what there is to measure.
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the benchmarks and their experiments.")

    func run() {
        let scope = Benchmark.Scope(isQuick: false, isUnprivileged: false)
        for benchmark in Catalogue.all {
            print("\(benchmark.id)  \(benchmark.title)")
            for experiment in benchmark.experiments(scope) { print("      \(experiment.name)") }
        }
    }
}
