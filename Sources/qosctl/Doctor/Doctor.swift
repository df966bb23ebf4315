import ArgumentParser
import Foundation
import QoSKernel
import QoSRuntime

/// `qosctl doctor`: prints what this machine and process can do.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Prints the mode, each class's effects as applied and read back, processors, pressure, and suggestions.",
        discussion: """
            Without a process, it starts a scheduler with one worker of each class, in this process, with this user's \
            rights. Run it as your service's user, in your service's container or unit.

            With the id of a running process, it reads that process: how the kernel schedules its threads, and the \
            limits that it meets. It changes nothing there.
            """)

    @Argument(help: "The id of a running process.")
    var process: Int32?

    @Flag(help: "Print JSON instead of text.")
    var json = false

    func validate() throws {
        guard let process, process <= 0 else { return }
        throw ValidationError("\(process) is no id of a process: use a positive number")
    }

    func run() throws {
        try StandardOutput.requireOpen()
        if let process {
            var (limits, problem): ([Int], String?) = ([], nil)
            do {
                limits = try DiagnosticsReader(process: "\(process)", id: process).counts().limits
            } catch {
                problem = "\(error)"
            }
            let report = ProcessReport(
                try ProcessSchedulingReader(process: process).read(),
                reached: SchedulerLimit.allCases.filter { limits.contains($0.number) }, pageProblem: problem)
            return try json ? write(report) : StandardOutput.write(report.lines.joined(separator: "\n"))
        }
        let report = try DoctorReport.make()
        try json ? write(report) : StandardOutput.write(DoctorText(report).lines.joined(separator: "\n"))
    }

    private func write(_ report: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardOutput.write(String(decoding: try encoder.encode(report), as: UTF8.self))
    }
}
