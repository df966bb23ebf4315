import Foundation

/// Runs of `qosctl` as a process.
enum ToolRun {
    /// Runs `qosctl` with words of a shell.
    ///
    /// - Returns: its status, and the text of the output that is read.
    static func run(
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
}
