internal import Foundation
internal import QoSCore
internal import QoSRuntime
internal import Sync

/// The exit status of a command that is not simply done.
struct CommandStatus: Error {
    let code: UInt8

    /// Conflicts, or entries that stay as they are.
    static let leftovers = CommandStatus(code: 1)
    /// Refused or failed.
    static let failure = CommandStatus(code: 3)
}

/// Runs a command as the whole process, with its work at class background, and ends the process.
func runProcess(_ body: @escaping @Sendable () async throws -> Void) -> Never {
    // Background work gets all processors that nothing else wants; by default it gets half of them.
    let workers = ProcessInfo.processInfo.activeProcessorCount
    let pools = QoSScheduler.Configuration(workers: [.background: workers])
    QoSProcess.run(configuration: QoSProcess.Configuration(scheduler: pools, qosClass: .userInitiated)) {
        do {
            // The wait for the work does not raise it.
            if let scheduler = QoSProcess.scheduler {
                try await scheduler.run(at: .background, operation: body)
            } else {
                try await body()
            }
        } catch let status as CommandStatus {
            throw QoSProcess.ExitStatus(status.code)
        } catch let error as CancellationError {
            complain("Stopped. Run the same command again: what is done stays done.")
            throw error
        } catch {
            complain("Error: \(error)")
            if case SyncError.overlapping = error { throw QoSProcess.ExitStatus(2) }
            throw QoSProcess.ExitStatus(3)
        }
    }
}

/// Writes a line to the standard error stream. A failed write has no effect.
func complain(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
}

/// Writes a line to the standard output stream. A failed write has no effect.
func say(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
}

/// Writes a value as one line of JSON.
func sayJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    say(String(decoding: try encoder.encode(value), as: UTF8.self))
}

/// Sizes for people.
func size(_ bytes: Int64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    var value = Double(bytes)
    var unit = 0
    while value >= 1024, unit < units.count - 1 {
        value /= 1024
        unit += 1
    }
    return unit == 0 ? "\(bytes) B" : "\((value * 10).rounded() / 10) \(units[unit])"
}
