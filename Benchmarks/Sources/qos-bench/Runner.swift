import BenchCore
import CBenchShims
import Glibc

/// Runs the series of experiments in turns, each run in a process of its own.
struct Runner {
    /// The number of processors that others may use on average during a run that counts.
    static let noiseLimit = 0.08

    /// The number of times that a disturbed run is repeated before it counts nevertheless.
    static let maximumRetries = 3

    let programs: PeerPrograms
    let repetitions: Int
    let isUnprivileged: Bool
    /// The number of seconds to wait for a quiet moment before a run is repeated.
    let patience: Double

    /// The results of an experiment's runs.
    struct Outcome {
        var runs: [Series: [RawFigures]] = [:]
        /// Runs that were thrown away because others were busy.
        var discarded = 0
        /// Runs that count although others were busy each time.
        var noisy = 0
        /// The failures, once per series.
        var failures: [String] = []
    }

    /// Runs ABAB…: the peers take turns, so that what drifts meets all of them.
    func run(_ experiment: Experiment, of benchmark: Benchmark) -> Outcome {
        var outcome = Outcome()
        var broken: Set<Series> = []
        for _ in 0..<repetitions {
            for series in experiment.series where !broken.contains(series) {
                do {
                    let figures = try runUndisturbed(series, benchmark.id, &outcome)
                    outcome.runs[series, default: []].append(figures)
                } catch {
                    broken.insert(series)
                    outcome.failures.append("\(benchmark.id) \(series.peer.rawValue) \(series.caseName): \(error)")
                }
            }
        }
        return outcome
    }

    private func runUndisturbed(
        _ series: Series, _ benchmark: String, _ outcome: inout Outcome
    ) throws(PeerFailure) -> RawFigures {
        var retries = 0
        while true {
            let (before, start, ownBefore) = (Self.processorTimes(), bench_now(), bench_process_cpu())
            let run = try programs.run(series, benchmark: benchmark, isUnprivileged: isUnprivileged)
            guard let before, let after = Self.processorTimes() else { return run.figures }
            let own = run.processorSeconds + Double(bench_process_cpu() - ownBefore) / 1e9
            let others = after.usedByOthers(since: before, seconds: Double(bench_now() - start) / 1e9, own: own)
            let figures = run.figures(others: others, stolen: after.stolen - before.stolen)
            if others <= Self.noiseLimit { return figures }
            if retries == Self.maximumRetries {
                outcome.noisy += 1
                return figures
            }
            retries += 1
            outcome.discarded += 1
            waitForQuiet()
        }
    }

    /// Waits until others leave the processors alone, for as long as it is worth.
    private func waitForQuiet() {
        let deadline = bench_now() + UInt64(patience * 1e9)
        while bench_now() < deadline {
            guard let before = Self.processorTimes() else { return }
            let start = bench_now()
            bench_sleep_until(start + 500_000_000)
            guard let after = Self.processorTimes() else { return }
            let others = after.usedByOthers(since: before, seconds: Double(bench_now() - start) / 1e9, own: 0)
            if others <= Self.noiseLimit / 2 { return }
        }
    }

    private static func processorTimes() -> ProcessorTimes? {
        guard let text = SystemFile.read("/proc/stat") else { return nil }
        return ProcessorTimes(text: text, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))))
    }
}

extension PeerRun {
    /// The figures, with what only the runner knows: what others used, the seconds in which the hypervisor ran something
    /// else, and when the process was gone after it said that its body had ended (`body_end_ns`).
    func figures(others: Double, stolen: Double) -> RawFigures {
        var figures = figures
        figures["others"] = others
        figures["stolen_ms"] = stolen * 1000
        if let end = figures["body_end_ns"] { figures["exit_ms"] = (Double(endedAt) - end) / 1e6 }
        return figures
    }
}
