import BenchCore
import QoSCore
import QoSRuntime

/// The executor of a workload, so that the workload reads the same for each.
struct Stage: Sendable {
    /// The place to which work goes.
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

    /// Returns how an open loop submits its jobs: as tasks of the classes of a foreground.
    func submitter(
        _ foreground: Foreground
    ) -> @Sendable (_ number: Int, _ job: @escaping @Sendable () -> Void) -> Void {
        { number, job in detached(foreground.qosClass(of: number)) { job() } }
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

extension Foreground {
    /// The class of a job, by its place in the order of arrival.
    func qosClass(of number: Int) -> QoSClass {
        switch self {
        case .userInteractive: .userInteractive
        case .userInitiated: .userInitiated
        case .both: number.isMultiple(of: 2) ? .userInteractive : .userInitiated
        }
    }
}
