import Foundation

/// Other processes that keep every processor busy at `SCHED_IDLE`, the lowest policy of the kernel (sched(7)).
///
/// They show what any background work costs the searches on this machine, whatever scheduler the service has.
final class Spinners: Sendable {
    private let processes: [Process]

    /// Starts one for each processor.
    init() throws {
        processes = try (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/chrt")
            process.arguments = ["--idle", "0", "/bin/sh", "-c", "while :; do :; done"]
            try process.run()
            return process
        }
    }

    /// Ends them.
    func stop() {
        for process in processes { process.terminate() }
        for process in processes { process.waitUntilExit() }
    }
}
