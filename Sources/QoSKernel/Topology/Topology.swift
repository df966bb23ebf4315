internal import CQoSShims
internal import Glibc

/// The processors this process may use: which, and how many of them at a time.
///
/// A snapshot; both the affinity and the quota can be changed from outside at any moment.
package struct Topology: Sendable, Hashable {
    /// The processors in the affinity mask of the thread that read it.
    package let processors: CPUSet

    /// The CPU quotas of the control groups the process is in, the innermost first.
    private let limits: [CPUQuota]

    /// The problems while reading. Each unreadable limit counts as "no limit", or as it was when it was read last.
    package let problems: [KernelError]

    /// The tightest of the quotas, if there is one.
    package var quota: CPUQuota? { limits.tightest }

    /// The number of threads that can run at a time: max(1, min(processors, ⌈quota⌉)).
    package var width: Int {
        let limit = quota.map(\.width) ?? .max
        return max(1, min(processors.count, limit))
    }

    /// Puts a topology together.
    package init(processors: CPUSet, quota: CPUQuota?, problems: [KernelError] = []) {
        self.init(processors: processors, limits: quota.map { [$0] } ?? [], problems: problems)
    }

    private init(processors: CPUSet, limits: [CPUQuota], problems: [KernelError]) {
        self.processors = processors
        self.limits = limits
        self.problems = problems
    }

    /// The same with other processors.
    package func with(processors: CPUSet) -> Topology {
        Topology(processors: processors, limits: limits, problems: problems)
    }

    /// Reads the calling thread's affinity and the process's quota; some file reads, O(depth of the control group).
    ///
    /// Never fails. Without an affinity the result has processor 0 alone. Without a readable quota it is unlimited.
    /// After an earlier reading, what cannot be read counts as unchanged instead. ``problems`` names both.
    ///
    /// - Parameters:
    ///   - root: where `proc` and `sys` are.
    ///   - calls: the seam through which the affinity is read.
    ///   - known: an earlier reading.
    package static func current(
        root: FileRoot = .real, calls: any SchedulingCalls = LinuxSchedulingCalls(), after known: Topology? = nil
    ) -> Topology {
        var problems: [KernelError] = []
        let processors: CPUSet
        do throws(KernelError) {
            processors = try calls.affinity(of: .current)
        } catch {
            problems.append(error)
            processors = known?.processors ?? CPUSet([0])
        }
        let limits = CPUQuota.limits(root: root, known: known?.limits ?? [], problems: &problems)
        return Topology(processors: processors, limits: limits, problems: problems)
    }

    /// The number of processors of the machine, whether the process may use them or not; at least 1 (sysconf(3)).
    package static let installedProcessors = max(1, Int(clamping: sysconf(Int32(_SC_NPROCESSORS_CONF))))

    /// The processor on which the calling thread runs at this moment (getcpu(2)); `nil` where the system does not say.
    package static func currentProcessor() -> Int? {
        let id = cqos_current_processor()
        return id < 0 ? nil : Int(id)
    }
}
