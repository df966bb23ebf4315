/// The changes that the kernel allows this process to make to its threads' scheduling, found by trying (rule C6).
package struct EffectCapabilities: Sendable, Hashable {
    /// The refused knobs, with their errors. The kernel allows every other knob.
    package let refusals: [EffectCapability: KernelError]

    /// Puts the findings of a probe together.
    package init(refusals: [EffectCapability: KernelError]) {
        self.refusals = refusals
    }

    /// Whether something is allowed; O(1).
    package func allows(_ capability: EffectCapability) -> Bool {
        refusals[capability] == nil
    }

    /// The column of the table of effects that follows.
    package var mode: EffectMode {
        let returns = allows(.niceUp) && allows(.idleOut)
        if returns, allows(.niceBelowZero) { return .privileged }
        if returns { return .reversible }
        return allows(.niceDown) || allows(.idleIn) ? .oneWay : .denied
    }
}
