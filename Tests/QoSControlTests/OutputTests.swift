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
        let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "exec \"$0\" \(command)", products.appendingPathComponent("qosctl").path]
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == status)
        #expect(text.contains("cannot be written") == (status != 0), "\(text)")
    }
}
