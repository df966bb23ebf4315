import QoSCore
import QoSRuntime

/// What a workload starts its work on, so that it reads the same for every executor.
struct Stage: Sendable {
    /// Where work goes.
    enum Mode: Sendable {
        /// The process's executor runs everything; ours has a scheduler, the others none.
        case processWide(QoSScheduler?)
        /// Each task names the executor of its class.
        case byPreference(QoSScheduler)
    }

    let mode: Mode
    let outside: OutsideThread

    init(_ mode: Mode, outside: OutsideThread) {
        self.mode = mode
        self.outside = outside
    }

    /// Our scheduler; `nil` on the executors of others.
    var scheduler: QoSScheduler? {
        switch mode {
        case .processWide(let scheduler): scheduler
        case .byPreference(let scheduler): scheduler
        }
    }

    /// The priority that stands for a class. On executors that do not know of ours, userInteractive is `.high`.
    func priority(_ qosClass: QoSClass) -> TaskPriority {
        scheduler == nil ? min(qosClass.taskPriority, .high) : qosClass.taskPriority
    }

    /// Starts a task of userInteractive for a body: how an open loop submits its jobs.
    var submitHigh: @Sendable (@escaping @Sendable () -> Void) -> Void {
        { body in detached(.userInteractive) { body() } }
    }

    /// Starts a task that inherits nothing.
    @inline(__always)
    @discardableResult
    func detached<Value: Sendable>(
        _ qosClass: QoSClass = .default, _ body: sending @escaping @isolated(any) () async -> Value
    ) -> Task<Value, Never> {
        switch mode {
        case .processWide:
            Task.detached(priority: priority(qosClass), operation: body)
        case .byPreference(let scheduler):
            Task.detached(
                executorPreference: scheduler.executor(for: qosClass), priority: priority(qosClass), operation: body)
        }
    }
}
