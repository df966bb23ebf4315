import QoSCore
import QoSKernel

/// The effect of a scheduler's configuration on this machine: the width of the pools, and the kernel's grants to the
/// process.
struct PoolSettings: Sendable {
    /// The number of processors that the process may use at a time.
    let width: Int

    /// The affinity and the quota of processor time.
    let topology: Topology

    /// The largest width of the process.
    let mostWide: Int

    /// The number of processors of the machine. The configuration may count on more, but no more threads run at a time.
    let mostUsable: Int

    /// Whether the width was given, and so follows neither affinity nor quota.
    let isFixedWidth: Bool

    /// The numbers of workers of classes that do not have the default number.
    let ownWidths: [QoSClass: Int]

    /// The processors that the process may use, if a worker of another scheduler made this one. That worker may be
    /// bound to one processor, and the threads of this scheduler would inherit the binding.
    let unbound: CPUSet?

    /// The kernel's grants to the process; `nil` when no effects are to be applied.
    let profile: KernelProfile?

    /// The duration after which a job counts as stalled, nanoseconds, by rank.
    let stallLimits: [UInt64]

    /// Whether the scheduler detects blocked workers that do not declare it.
    let detectsBlocking: Bool

    /// The receiver of the scheduler's events.
    let observer: (any SchedulerObserver)?

    /// The kernel's scheduling calls.
    let calls: any SchedulingCalls

    /// The place of `proc` and `sys`.
    let fileRoot: FileRoot

    /// Returns the number of workers of a class when the process may use `width` processors.
    func workers(of qosClass: QoSClass, width: Int) -> Int {
        ownWidths[qosClass] ?? SchedulingParameters()[qosClass].workers(cores: width)
    }

    /// The constants of admission. If the kernel does not separate the classes, the surplus of the lower ones gives way
    /// at once.
    var parameters: SchedulingParameters {
        var parameters = SchedulingParameters()
        if profile.map({ $0.capabilities.mode == .denied }) ?? true { parameters.crowdingGrace = .zero }
        return parameters
    }

    /// Returns the time for which a worker of the class looks for work before it parks, while a processor is idle: a
    /// wake-up costs more than that. Nanoseconds.
    static func spin(of qosClass: QoSClass) -> UInt64 {
        switch qosClass {
        case .userInteractive: 50_000
        case .userInitiated: 20_000
        case .default, .utility, .background: 0
        }
    }
}
