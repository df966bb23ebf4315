internal import Foundation
internal import Glibc
internal import QoSKernel
internal import QoSKernelTestSupport

/// A program of `QoSProcessTestDriver`, or another one that was built beside the tests, as a process of its own.
package final class DriverProcess: Sendable {
    /// The end of a process.
    package struct Ending: Equatable, Sendable {
        package let status: Int32
        package let wasKilledBySignal: Bool
        package let output: String
        package let errors: String

        package init(status: Int32, wasKilledBySignal: Bool, output: String, errors: String) {
            self.status = status
            self.wasKilledBySignal = wasKilledBySignal
            self.output = output
            self.errors = errors
        }

        /// The findings that the program printed, by their names.
        package var findings: [String: String] {
            Dictionary(
                output.split(separator: "\n").map { line in
                    let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
                    return (parts[0], parts.count > 1 ? parts[1] : "")
                },
                uniquingKeysWith: { $1 })
        }
    }

    private let process: Lock<Process>
    private let errors: FileHandle
    private let lines: AsyncStream<String>
    private let ended = Gate()

    /// The output so far, line by line.
    private let output = Lock("")

    /// Starts a scenario of the driver.
    package convenience init(_ arguments: String...) throws {
        try self.init(program: "QoSProcessTestDriver", arguments)
    }

    /// Starts a program beside the test binary, or one with an absolute path.
    package convenience init(program: String, _ arguments: [String]) throws {
        let executable =
            program.hasPrefix("/") ? URL(fileURLWithPath: program) : Self.products.appendingPathComponent(program)
        try self.init(executable, arguments)
    }

    /// Starts a script of a shell, in which `$0` is the driver.
    package convenience init(script: String, _ arguments: String...) throws {
        let driver = Self.products.appendingPathComponent("QoSProcessTestDriver").path
        try self.init(URL(fileURLWithPath: "/bin/bash"), ["-c", script, driver] + arguments)
    }

    /// The folder of the test binary.
    private static var products: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// Lets children begin with the signals that a terminal sends. A shell without job control starts what it runs in
    /// the background with SIGINT and SIGQUIT ignored, and what a process ignores its children ignore.
    private static let hasDefaultSignals: Void = {
        for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] where ProcessSignals.isIgnored(signal) {
            _ = Glibc.signal(signal, SIG_DFL)
        }
    }()

    private init(_ executable: URL, _ arguments: [String]) throws {
        _ = Self.hasDefaultSignals
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        let (standardOutput, standardError) = (Pipe(), Pipe())
        process.standardOutput = standardOutput
        process.standardError = standardError
        errors = standardError.fileHandleForReading
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        process.terminationHandler = { [ended] _ in ended.open() }
        try process.run()
        self.process = Lock(process)
        let handle = standardOutput.fileHandleForReading
        Thread.detachNewThread {
            var rest = Data()
            while case let data = handle.availableData, !data.isEmpty {
                rest.append(data)
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self) + "\n")
                    rest = Data(rest[(end + 1)...])
                }
            }
            continuation.yield(String(decoding: rest, as: UTF8.self))
            continuation.finish()
        }
    }

    /// Waits until the program has printed the finding.
    package func printed(_ line: String) async { await printed(where: { $0 == line + "\n" }) }

    /// Waits until the program has printed a line of which the condition holds, or has ended.
    package func printed(where isWanted: (String) -> Bool) async {
        for await next in lines {
            output.withLock { $0 += next }
            if isWanted(next) { return }
        }
    }

    package func send(_ signal: Int32) {
        _ = process.withLock { kill($0.processIdentifier, signal) }
    }

    /// Waits for its end. If the test is cancelled, as by its time limit, the process is killed.
    package func ending() async -> Ending {
        await withTaskCancellationHandler {
            for await next in lines { output.withLock { $0 += next } }
            await ended.passed()
        } onCancel: {
            send(SIGKILL)
        }
        let text = (try? errors.readToEnd()) ?? Data()
        return process.withLock { process in
            Ending(
                status: process.terminationStatus, wasKilledBySignal: process.terminationReason == .uncaughtSignal,
                output: output.withLock { $0 }, errors: String(decoding: text, as: UTF8.self))
        }
    }
}
