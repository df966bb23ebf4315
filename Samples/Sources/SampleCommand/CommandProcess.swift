internal import Foundation
internal import Glibc
package import QoSCore
internal import QoSRuntime

/// The exit status of a command that is not simply done.
package struct CommandStatus: Error {
    /// The status, from 1 to 255.
    package let code: UInt8

    /// Makes a status.
    package init(code: UInt8) {
        self.code = code
    }
}

/// A command that is the whole process.
package struct CommandProcess: Sendable {
    private let qosClass: QoSClass
    private let stopped: String
    private let failure: @Sendable (any Error) -> CommandStatus

    /// Makes a command.
    ///
    /// - Parameters:
    ///   - qosClass: The class of its work.
    ///   - stopped: The line for a person after a signal ended the work.
    ///   - failure: The exit status for an error.
    package init(
        at qosClass: QoSClass, stopped: String, failure: @escaping @Sendable (any Error) -> CommandStatus
    ) {
        self.qosClass = qosClass
        self.stopped = stopped
        self.failure = failure
    }

    /// Runs the work, says why it failed, and ends the process.
    package func run(_ body: @escaping @Sendable () async throws -> Void) -> Never {
        // Background work gets all processors that nothing else wants; by default it gets half of them.
        let workers = ProcessInfo.processInfo.activeProcessorCount
        let pools = QoSScheduler.Configuration(workers: [.background: workers])
        QoSProcess.run(configuration: QoSProcess.Configuration(scheduler: pools, qosClass: .userInitiated)) {
            do {
                do {
                    // The wait for the work does not raise it.
                    if let scheduler = QoSProcess.scheduler {
                        try await scheduler.run(at: qosClass, operation: body)
                    } else {
                        try await body()
                    }
                } catch let status as CommandStatus {
                    if let lost = LostOutput.current { throw lost }
                    throw status
                }
                if let lost = LostOutput.current { throw lost }
            } catch let status as CommandStatus {
                throw QoSProcess.ExitStatus(status.code)
            } catch let error as CancellationError {
                complain(stopped)
                throw error
            } catch {
                complain("Error: \(error)")
                throw QoSProcess.ExitStatus(failure(error).code)
            }
        }
    }

    /// Sets up what a program needs before it reads its arguments: a closed stream is an error and no signal, and no
    /// file gets the number of a standard stream.
    package static func prepareStreams() {
        signal(SIGPIPE, SIG_IGN)
        for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 { _ = unsafe open("/dev/null", O_RDWR) }
    }

    /// Raises the soft limit of open files, as far as the hard one allows, for walks of the deepest trees: a path of 4,096
    /// bytes has 2,047 folders, and a walk has each folder above its place open.
    package static func raiseDescriptorLimit() {
        let wanted: rlim_t = 4096
        var limits = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limits) == 0, limits.rlim_cur < wanted else { return }
        limits.rlim_cur = min(wanted, limits.rlim_max)
        unsafe setrlimit(resource, &limits)
    }
}
