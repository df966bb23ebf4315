import QoSCore
import QoSKernel

/// What a scheduler's configuration comes to on this machine: how wide the pools are, and what the kernel lets the process do.
struct PoolSettings: Sendable {
    /// How many processors the process may use at a time, and how many the affinity allows without a quota.
    let width: Int
    let widthWithoutQuota: Int

    /// How wide the process may become.
    let mostWide: Int

    /// Whether the width was given, and so follows nothing.
    let isFixedWidth: Bool

    /// The workers of classes that have another number of them than the default.
    let ownWidths: [QoSClass: Int]

    /// What the process may use, where the scheduler was made by a worker of another one, which may be bound to one processor; the
    /// threads of this one would inherit that.
    let unbound: CPUSet?

    /// What the kernel lets the process do; `nil` when no effects are to be applied.
    let profile: KernelProfile?

    /// How long a job may take before it counts as stalled, nanoseconds, by rank.
    let stallLimits: [UInt64]

    /// Whether a worker is taken for blocked that does not say so.
    let detectsBlocking: Bool

    /// Is told what the scheduler does.
    let observer: (any SchedulerObserver)?

    /// The kernel's scheduling calls.
    let calls: any SchedulingCalls

    /// Where `proc` and `sys` are.
    let fileRoot: FileRoot

    /// How many workers a class has where the process may use so many processors.
    func workers(of qosClass: QoSClass, width: Int) -> Int {
        ownWidths[qosClass] ?? SchedulingParameters()[qosClass].workers(cores: width)
    }

    /// The constants of admission. Where the kernel does not separate the classes, the surplus of the lower ones gives way
    /// at once.
    var parameters: SchedulingParameters {
        var parameters = SchedulingParameters()
        if profile.map({ $0.capabilities.mode == .denied }) ?? true { parameters.crowdingGrace = .zero }
        return parameters
    }

    /// How long a worker of the class goes on looking for work before it parks, while a processor is idle: a wake-up
    /// costs more than that. Nanoseconds.
    static func spin(of qosClass: QoSClass) -> UInt64 {
        switch qosClass {
        case .userInteractive: 50_000
        case .userInitiated: 20_000
        case .default, .utility, .background: 0
        }
    }
}
