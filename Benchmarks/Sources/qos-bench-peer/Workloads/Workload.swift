import BenchCore

/// A case of a benchmark, as a peer runs it.
protocol Workload: Sendable {
    /// Measures on a stage, in a task of the default class, for about that long.
    func run(on stage: Stage, seconds: Double) async throws -> RawFigures
}
