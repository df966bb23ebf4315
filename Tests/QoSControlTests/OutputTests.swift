import Foundation
import Testing

@Suite("qosctl's output")
struct OutputTests {
    /// Runs `qosctl` with words of a shell, and returns its status and what came to the output that is read.
    private func run(
        _ command: String, reading output: ReferenceWritableKeyPath<Process, Any?>,
        with variables: [String: String] = [:]
    ) throws -> (status: Int32, text: String) {
        let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "exec \"$0\" \(command)", products.appendingPathComponent("qosctl").path]
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        process[keyPath: output] = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    @Test(
        "what cannot be written is a failure, with the reason on standard error",
        arguments: [
            ("doctor >/dev/full", 1), ("doctor --json >/dev/full", 1), ("doctor >&-", 1), ("doctor >/dev/null", 0),
        ]
            as [(String, Int32)]
    )
    func tellsFailure(command: String, status: Int32) throws {
        let result = try run(command, reading: \.standardError)
        #expect(result.status == status)
        #expect(result.text.contains("cannot be written") == (status != 0), "\(result.text)")
    }

    @Test("the doctor tells which private parts of the concurrency library are known", arguments: ["known", "unknown"])
    func libraryParts(layout: String) throws {
        let text = try run("doctor", reading: \.standardOutput, with: ["QOS_LIBRARY_LAYOUT": layout]).text
        for part in ["job flags", "continuation jobs", "actors", "waiters"] {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("  \(part) ") }, "\(text)")
            #expect(line.dropFirst(20).hasPrefix("unknown") == (layout == "unknown"), "\(line)")
        }
    }
}
