import Foundation
import Testing

@Suite("qosctl's output")
struct OutputTests {
    @Test(
        "what cannot be written is a failure, with the reason on standard error",
        arguments: [
            ("doctor >/dev/full", 1), ("doctor --json >/dev/full", 1), ("doctor >&-", 1), ("doctor >/dev/null", 0),
        ]
            as [(String, Int32)]
    )
    func tellsFailure(command: String, status: Int32) throws {
        let result = try ToolRun.run(command, reading: \.standardError)
        #expect(result.status == status)
        #expect(result.text.contains("cannot be written") == (status != 0), "\(result.text)")
    }

    @Test(
        "the doctor tells which private parts of the concurrency library are known",
        arguments: ["known", "unknown", "no-parents"])
    func libraryParts(layout: String) throws {
        let text = try ToolRun.run("doctor", reading: \.standardOutput, with: ["QOS_LIBRARY_LAYOUT": layout]).text
        for part in ["job flags", "continuation jobs", "actors", "waiters", "earlier waiters", "parents"] {
            let isUnknown = layout == "unknown" || layout == "no-parents" && part == "parents"
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("  \(part) ") }, "\(text)")
            #expect(line.dropFirst(20).hasPrefix("unknown") == isUnknown, "\(line)")
        }
    }
}
