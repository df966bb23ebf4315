import QoSEventLoop
import QoSKernel

/// An error of setting up or shutting down a runtime.
public enum QoSRuntimeError: Error, Sendable, Hashable {
    /// A configuration that makes no sense.
    case invalidConfiguration(String)
    /// The event loop could not be made. The text says what failed and what helps.
    case eventLoopUnavailable(String)
    /// The system refused a thread that the runtime needs. The text says what failed and what helps.
    case threadUnavailable(String)
    /// The scheduler of the process cannot be shut down. It ends with the process.
    case processSchedulerCannotBeShutDown
    /// The process has its executors already, from an earlier call or because a task ran before.
    case processAlreadyRunning
    /// The layout of the running concurrency library differs from the one that the package was built for.
    case unsupportedConcurrencyLibrary
}

extension QoSRuntimeError: CustomStringConvertible {
    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .invalidConfiguration(let text):
            "invalid runtime configuration: \(text)"
        case .eventLoopUnavailable(let text):
            "the event loop could not be made: \(text)"
        case .threadUnavailable(let text):
            "a thread of the runtime could not be started: \(text)"
        case .processSchedulerCannotBeShutDown:
            "the scheduler of the process ends with the process: return from the body of QoSProcess.run instead"
        case .processAlreadyRunning:
            "QoSProcess.run was called a second time: call it once, from a synchronous main, before any task is started"
        case .unsupportedConcurrencyLibrary:
            "this Swift runtime lays out jobs differently from the one the package was built for: "
                + "build with a toolchain that the package's documentation names"
        }
    }
}
