internal import Dispatch
internal import Foundation
internal import Glibc

/// A run of one of the commands, as a process of its own. It ended.
public struct CommandRun: Sendable {
    /// The exit status, or 128 and the number of the signal that ended it.
    public let status: Int32
    /// All that it wrote to the standard output stream.
    public let output: String
    /// All that it wrote to the standard error stream.
    public let errors: String

    /// Runs a command to its end.
    ///
    /// - Parameters:
    ///   - program: The name of the command.
    ///   - environment: Variables in addition to those of this process.
    ///   - folder: A place for the output.
    public init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], in folder: TemporaryFolder
    ) throws {
        let process = try StartedCommand(program, arguments, environment: environment, in: folder)
        status = process.waitUntilExit()
        output = (try? folder.read("output")) ?? ""
        errors = (try? folder.read("errors")) ?? ""
    }
}

/// A command as a process of its own, while it runs.
public final class StartedCommand: Sendable {
    private let process: Process
    private let ended = DispatchSemaphore(value: 0)
    private let lines: FileHandle?

    /// Starts a command.
    ///
    /// - Parameter readsLines: Whether its output and its errors go to `nextLine` instead of files.
    public init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], in folder: TemporaryFolder,
        readsLines: Bool = false
    ) throws {
        try folder.write("output", "")
        try folder.write("errors", "")
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent(program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        if readsLines {
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardError = pipe
            lines = pipe.fileHandleForReading
        } else {
            process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: folder["output"]))
            process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder["errors"]))
            lines = nil
        }
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
    }

    /// The number of the process.
    public var identifier: Int32 { process.processIdentifier }

    /// Waits for the next line of the output. Returns nil at its end.
    public func nextLine() -> String? {
        guard let lines else { return nil }
        var bytes: [UInt8] = []
        while let byte = try? lines.read(upToCount: 1)?.first {
            guard byte != UInt8(ascii: "\n") else { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Sends SIGTERM.
    public func terminate() { process.terminate() }

    /// Kills the process at a random moment, unless it ends before.
    ///
    /// - Parameter latest: The upper bound of the moment, in microseconds. No result depends on it.
    /// - Returns: Whether the process was killed.
    public func kill(within latest: Int, using generator: inout SeededGenerator) -> Bool {
        let moment = DispatchTime.now() + .microseconds(Int.random(in: 1000...latest, using: &generator))
        if ended.wait(timeout: moment) == .success {
            ended.signal()
            return false
        }
        _ = Glibc.kill(identifier, SIGKILL)
        return waitUntilExit() == 128 + SIGKILL
    }

    /// Waits for the end. Returns the exit status, or 128 and the number of the signal that ended it.
    @discardableResult
    public func waitUntilExit() -> Int32 {
        ended.wait()
        ended.signal()
        return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    }
}
