import QoSCore
import QoSEventLoop
import QoSKernel

/// The executors of the process, made and installed once.
final class ProcessExecutors: Sendable {
    let scheduler: QoSScheduler
    let main: MainLoopExecutor

    private static let current = Lock<ProcessExecutors?>(nil)

    /// The installed executors; `nil` before.
    static var installed: ProcessExecutors? { current.withLock { $0 } }

    private init(scheduler: QoSScheduler, main: MainLoopExecutor) {
        self.scheduler = scheduler
        self.main = main
    }

    /// Makes the executors and hands them to the concurrency library.
    static func install(_ configuration: QoSProcess.Configuration) throws -> ProcessExecutors {
        let executors = try current.withLock { current in
            guard current == nil else { throw QoSRuntimeError.processAlreadyRunning }
            let scheduler = try QoSScheduler(configuration: configuration.scheduler, isProcessWide: true)
            let made = ProcessExecutors(
                scheduler: scheduler, main: try MainLoopExecutor(beside: scheduler.core.group))
            current = made
            return made
        }
        ConcurrencyRuntime.installProcessExecutors()
        return executors
    }
}
