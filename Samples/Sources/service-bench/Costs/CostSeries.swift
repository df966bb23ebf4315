import Foundation
import Glibc

/// A program as the comparison runs it.
struct CostProgram {
    let name: String
    let command: [String]
    var environment: [String: String] = [:]
    /// The exit statuses of a run that counts.
    var accepts: Set<Int32> = [0]
    /// Puts the program back to the state before its first run.
    let prepare: () throws -> Void
    /// Returns the bytes that it keeps, or sent, after a run with the given file of output.
    var kept: (_ output: String) throws -> Int? = { _ in nil }
}

/// The runs of several programs on one tree: the first, one without a change, and one with one per cent changed.
struct CostSeries {
    let part: CostPart
    let tree: Tree
    let programs: [CostProgram]
    let output: String

    /// Runs the programs in turns, each turn in another order.
    ///
    /// - Parameter then: Looks at the results of a run, when all programs have done it.
    func run(
        turns: Int, _ note: (CostRecord) throws -> Void,
        then: (CostRecord.Run) throws -> Void = { _ in }
    ) throws {
        for turn in 0..<turns {
            for program in programs { try program.prepare() }
            for run in CostRecord.Run.allCases {
                if run == .changed { try tree.change(turn: turn) }
                // No program should doubt the times of files that changed a moment ago.
                if run != .unchanged { sleep(2) }
                for index in programs.indices {
                    let program = programs[(index + turn) % programs.count]
                    // Else a program that waits for the disk also waits for what the one before it left in memory.
                    Glibc.sync()
                    let cost = try MeasuredRun(
                        program.command, environment: program.environment, output: output, accepts: program.accepts)
                    let kept = try program.kept(output)
                    try note(CostRecord(part, tree.name, program.name, run, turn: turn, cost, stored: kept))
                }
                try then(run)
            }
        }
    }
}
