import ArgumentParser
import Foundation
import QoSCore
import QoSKernel

/// `qosctl energy`: prints processor time and wake-ups of a process, by class and by thread.
struct Energy: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the processor time and the wake-ups of a running process, by class and by thread.",
        discussion: """
            It reads /proc twice. Workers are known by the names of their threads, qos-ui-0 to qos-bg-1. The process need \
            not be prepared for it.
            """)

    @Argument(help: "The id of the process.")
    var process: Int32

    @Option(help: "The seconds between the two readings.")
    var interval = 1.0

    @Flag(help: "Print JSON instead of text.")
    var json = false

    func validate() throws {
        guard process > 0 else { throw ValidationError("\(process) is no id of a process: use a positive number") }
        guard interval >= 0.01, interval <= 86_400 else {
            throw ValidationError("an interval of \(interval) s: use 0.01 to 86400")
        }
    }

    func run() throws {
        try StandardOutput.requireOpen()
        let reader = EnergyReader(process: process)
        let first = try reader.read()
        Thread.sleep(forTimeInterval: interval)
        let report = EnergyReport(from: first, to: try reader.read())
        guard json else {
            let note =
                report.hasWorkers ? [] : ["no thread has the name of a worker of swift-qos, so no class is known"]
            return try StandardOutput.write((report.lines() + note).joined(separator: "\n"))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardOutput.write(String(decoding: try encoder.encode(report), as: UTF8.self))
    }
}
