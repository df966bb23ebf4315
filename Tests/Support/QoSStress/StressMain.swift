import Glibc
import QoSCore
import QoSKernel
import QoSOperations
import QoSRuntime
import QoSTesting

/// Random operations on several schedulers at once, round after round, each with a seed that repeats its moves.
///
///     QoSStress [--seconds 10] [--seed 1] [--rounds N] [--process] [--only MOVES] [--without MOVES] [--limit 30]
///
/// Every round makes schedulers, lets tasks and plain threads make random moves on them, shuts some schedulers down in
/// the middle and the rest at the end. Exit status 0: everything came to its end and was released, and memory stayed
/// flat. 1: something was lost, ended twice or was kept. 3: a watchdog saw a hang, and has printed what stands still.
@main
enum StressMain {
    static func main() {
        guard let options = StressOptions(CommandLine.arguments.dropFirst()) else {
            Report.line("usage: QoSStress \(StressOptions.usage)")
            exit(64)
        }
        if options.isProcessWide {
            QoSProcess.run {
                let status = await run(options)
                if status != 0 { throw QoSProcess.ExitStatus(status) }
            }
        }
        Task.detached { exit(Int32(await run(options))) }
        while true { pause() }
    }

    private static func run(_ options: StressOptions) async -> UInt8 {
        do {
            return try await StressRun(options).run()
        } catch {
            Report.line("error: \(error)")
            return 1
        }
    }
}

/// The options of the command line.
struct StressOptions: Sendable {
    static let usage =
        "[--seconds N] [--seed N] [--rounds N] [--process] [--only MOVES] [--without MOVES] [--limit SECONDS]"

    var seconds = 10
    var seed: UInt64 = 1
    var rounds = Int.max
    var isProcessWide = false
    var moves = Move.allCases
    var limit = 30

    init?(_ arguments: some Collection<String>) {
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            if word == "--process" {
                isProcessWide = true
                continue
            }
            guard let value = rest.popFirst() else { return nil }
            let moves = value.split(separator: ",").compactMap { Move(rawValue: String($0)) }
            switch word {
            case "--seconds": seconds = Int(value) ?? 10
            case "--seed": seed = UInt64(value) ?? 1
            case "--rounds": rounds = Int(value) ?? 1
            case "--limit": limit = Int(value) ?? 30
            case "--only": self.moves = moves
            case "--without": self.moves.removeAll { moves.contains($0) }
            default: return nil
            }
        }
        if moves.isEmpty { return nil }
    }
}
