internal import ArgumentParser
internal import Backup
internal import Foundation
internal import QoSCore
internal import QoSRuntime
internal import TreeScan

/// The exit status of a command that is not simply done.
struct CommandStatus: Error {
    let code: UInt8

    /// Damage was found.
    static let damage = CommandStatus(code: 1)
    /// Done, but some entries could not be saved or restored.
    static let incomplete = CommandStatus(code: 3)
}

/// Runs a command as the whole process, with its work at one class, and ends the process.
func runProcess(at qosClass: QoSClass, _ body: @escaping @Sendable () async throws -> Void) -> Never {
    // Background work gets all processors that nothing else wants; by default it gets half of them.
    let workers = ProcessInfo.processInfo.activeProcessorCount
    let pools = QoSScheduler.Configuration(workers: [.background: workers])
    QoSProcess.run(configuration: QoSProcess.Configuration(scheduler: pools, qosClass: .userInitiated)) {
        do {
            // The wait for the work does not raise it.
            if let scheduler = QoSProcess.scheduler {
                try await scheduler.run(at: qosClass, operation: body)
            } else {
                try await body()
            }
        } catch let status as CommandStatus {
            throw QoSProcess.ExitStatus(status.code)
        } catch let error as CancellationError {
            complain("Stopped. Run the same command again: it goes on from what is written.")
            throw error
        } catch {
            complain("Error: \(error)")
            throw QoSProcess.ExitStatus(1)
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

extension RepositoryOptions {
    /// Opens the repository with the passphrase of the user.
    func open() throws -> Repository {
        try Repository.open(at: repository, passphrase: try Passphrase.read(file: passwordFile, confirming: false))
    }
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

/// A time for people, in UTC.
func time(_ nanoseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(nanoseconds) / 1e9).formatted(.iso8601)
}
