import ArgumentParser
import Foundation

/// `qosctl doctor`: prints what this machine and process can do.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Prints the mode, each class's effects as applied and read back, processors, pressure, and suggestions.",
        discussion: """
            It starts a scheduler with one worker of each class, in this process, with this user's rights. Run it as your \
            service's user, in your service's container or unit.
            """)

    @Flag(help: "Print JSON instead of text.")
    var json = false

    func run() throws {
        try StandardOutput.requireOpen()
        let report = try DoctorReport.make()
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try StandardOutput.write(String(decoding: try encoder.encode(report), as: UTF8.self))
        } else {
            try StandardOutput.write(DoctorText(report).lines.joined(separator: "\n"))
        }
    }
}
