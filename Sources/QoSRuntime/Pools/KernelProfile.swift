import QoSCore
import QoSKernel

/// The kernel's grants to this process for its threads, probed once, and the resulting way to give the classes their
/// effects.
struct KernelProfile: Sendable {
    let capabilities: EffectCapabilities
    let scope: NiceScope

    /// The processors that the process may use.
    let processors: CPUSet
    let calls: any SchedulingCalls

    /// The applier that gives a class's effects to the calling thread, or to another one.
    var applier: EffectApplier {
        EffectApplier(mode: capabilities.mode, spread: scope.spread, calls: calls)
    }

    /// The profile of the process. Privileges and groups are not expected to change while it runs.
    static let process = KernelProfile(calls: LinuxSchedulingCalls())

    /// Probes the kernel with these calls; some 100 µs.
    init(calls: any SchedulingCalls) {
        self.calls = calls
        capabilities = EffectProbe.run(calls: calls)
        scope = NiceScope.current()
        processors = Topology.current(calls: calls).processors
    }
}
