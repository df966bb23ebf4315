import QoSCore
import QoSKernel

/// What the kernel lets this process do to its threads, found out once, and how the classes are given their effects then.
struct KernelProfile: Sendable {
    let capabilities: EffectCapabilities
    let scope: NiceScope

    /// The processors that the process may use.
    let processors: CPUSet
    let calls: any SchedulingCalls

    /// Gives the calling thread, or another, a class's effects.
    var applier: EffectApplier {
        EffectApplier(mode: capabilities.mode, spread: scope.spread, calls: calls)
    }

    /// The profile of the process: privileges and groups are not expected to change while it runs.
    static let process = KernelProfile(calls: LinuxSchedulingCalls())

    /// Finds out, with these calls; some 100 µs.
    init(calls: any SchedulingCalls) {
        self.calls = calls
        capabilities = EffectProbe.run(calls: calls)
        scope = NiceScope.current()
        processors = Topology.current(calls: calls).processors
    }
}
