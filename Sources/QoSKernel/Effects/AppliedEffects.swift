package import QoSCore

/// The requests of a class for a thread, and their outcomes, knob by knob (rule C6: nothing fails silently).
package struct AppliedEffects: Sendable {
    /// The class whose effects were applied.
    package let qosClass: QoSClass
    /// The thread they were applied to.
    package let thread: ThreadID
    /// The scheduling policy.
    package let policy: KnobOutcome<SchedulingPolicy>
    /// The nice value.
    package let nice: KnobOutcome<Int>
    /// The slice in nanoseconds; without an answer (EOPNOTSUPP) on a kernel that has none.
    package let slice: KnobOutcome<UInt64>
    /// The I/O class and level.
    package let ioPriority: KnobOutcome<IOPriority>
    /// The timer slack in nanoseconds.
    package let timerSlack: KnobOutcome<UInt64>

    /// The knobs that could not be set, with the reason.
    package var errors: [EffectKnob: KernelError] {
        let all: [EffectKnob: KernelError?] = [
            .policy: policy.error, .nice: nice.error, .slice: slice.error,
            .ioPriority: ioPriority.error, .timerSlack: timerSlack.error,
        ]
        return all.compactMapValues { $0 }
    }

    /// The knobs that do not read back as asked, whether or not setting them said so.
    package var missing: Set<EffectKnob> {
        let states: [(EffectKnob, Bool)] = [
            (.policy, policy.isInEffect), (.nice, nice.isInEffect), (.slice, slice.isInEffect),
            (.ioPriority, ioPriority.isInEffect), (.timerSlack, timerSlack.isInEffect),
        ]
        return Set(states.filter { !$0.1 }.map(\.0))
    }
}

/// A setting of a class for its threads. The kernel can refuse each on its own.
package enum EffectKnob: String, Sendable, Hashable, CaseIterable {
    /// The scheduling policy.
    case policy
    /// The nice value.
    case nice
    /// The slice of the fair policies.
    case slice
    /// The I/O class and level.
    case ioPriority
    /// The timer slack.
    case timerSlack
}
